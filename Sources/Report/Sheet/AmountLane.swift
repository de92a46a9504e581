// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The insulin or the carbohydrates of a day below its curve. Each minute that has any has a mark, and its number where the one
/// before leaves room.
struct AmountLane {
  /// What one minute has of rapid, basal or premixed insulin, or of carbohydrates.
  private struct Mark {
    let ink: Ink
    let isBasal: Bool
    let isMixed: Bool
    var amounts: [Double]
  }

  /// The distance of marks of one minute, so that none covers another.
  private static let step = 4.2

  let line: DayLine
  let kind: RecordKind
  /// The lower end of the marks.
  let floor: Double
  let font: Drawing.Font
  /// Said after an amount of premixed insulin.
  var mixedSign = ""
  /// The height of the mark of an amount.
  let height: (Double) -> Double

  func draw(on drawing: inout Drawing) {
    var free = line.area.left
    for (instant, marks) in minutes {
      let shift = Self.step * Double(marks.count - 1)
      let start = min(line.x(instant), line.area.right - shift)
      for (index, mark) in marks.enumerated() {
        let (x, height) = (start + Self.step * Double(index), height(mark.amounts.reduce(0, +)))
        drawing.rectangle(x - 1.1, floor - height, 2.2, height, fill: mark.ink)
        if mark.isBasal {
          drawing.line(
            x - 3, floor - height, x + 3, floor - height, Drawing.Stroke(ink: mark.ink, width: 1))
        }
      }
      let texts = marks.map { (text: text($0), ink: $0.ink) }
      let width = texts.reduce(0) { $0 + font.width($1.text) + 3 } - 3
      var x = start + shift + 3.4
      guard start >= free, x + width <= drawing.width - 4 else { continue }
      free = x + width + 2.6
      for (text, ink) in texts {
        drawing.text(text, x, floor - 1.2, font, ink)
        x += font.width(text) + 3
      }
    }
  }

  /// The marks of each minute, in the order of time.
  private var minutes: [(instant: Int64, marks: [Mark])] {
    var minutes: [(instant: Int64, marks: [Mark])] = []
    for event in line.day.events where event.kind == kind && !event.isBasalRate {
      guard let amount = kind == .insulin ? event.units : event.carbohydrates else { continue }
      if minutes.last.map({ $0.instant / 60 }) != event.instant / 60 { minutes.append((event.instant, [])) }
      let isBasal = event.subtype == "long" || event.subtype == "basal"
      let isMixed = event.subtype == "mix"
      let last = minutes.count - 1
      let same = minutes[last].marks.firstIndex { $0.isBasal == isBasal && $0.isMixed == isMixed }
      if let same {
        minutes[last].marks[same].amounts.append(amount)
      } else {
        let ink: Ink = kind == .food ? .food : isBasal ? .basal : .rapid
        minutes[last].marks.append(Mark(ink: ink, isBasal: isBasal, isMixed: isMixed, amounts: [amount]))
      }
    }
    return minutes
  }

  /// The sum; of equal amounts, how many and one of them, so that a dose that is stated twice is seen.
  private func text(_ mark: Mark) -> String {
    let count = mark.amounts.count
    let isRepeated = count > 1 && Set(mark.amounts).count == 1
    let number = line.glucose.plain(isRepeated ? mark.amounts[0] : mark.amounts.reduce(0, +))
    return (isRepeated ? "\(count) × \(number)" : number) + (mark.isMixed ? mixedSign : "")
  }
}
