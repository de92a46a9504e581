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

    func isSameKind(as other: Mark) -> Bool { isBasal == other.isBasal && isMixed == other.isMixed }
  }

  /// Marks whose numbers are after the last of them, each with its place.
  private struct Cluster {
    var marks: [(x: Double, mark: Mark)]

    /// Adds the marks of a minute, each at a distance from the one before.
    mutating func add(_ others: [Mark], at x: Double, before edge: Double) {
      for mark in others {
        marks.append((max(x, marks.last.map { $0.x + AmountLane.step } ?? x), mark))
      }
      // The marks of the last minutes of a day have room before the edge.
      let excess = (marks.last?.x ?? edge) - edge
      if excess > 0 { for index in marks.indices { marks[index].x -= excess } }
    }
  }

  /// The distance of marks of one cluster, so that none covers another.
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
    for cluster in clusters {
      for (x, mark) in cluster.marks {
        let height = height(mark.amounts.reduce(0, +))
        drawing.rectangle(x - 1.1, floor - height, 2.2, height, fill: mark.ink)
        if mark.isBasal {
          drawing.line(
            x - 3, floor - height, x + 3, floor - height, Drawing.Stroke(ink: mark.ink, width: 1))
        }
      }
      var x = start(of: cluster)
      guard cluster.marks[0].x >= free, end(of: cluster) <= drawing.width - 4 else { continue }
      free = end(of: cluster) + 2.6
      for (_, mark) in cluster.marks {
        drawing.text(text(mark), x, floor - 1.2, font, mark.ink)
        x += font.width(text(mark)) + 3
      }
    }
  }

  /// Where the numbers of a cluster begin.
  private func start(of cluster: Cluster) -> Double { (cluster.marks.last?.x ?? 0) + 3.4 }

  private func end(of cluster: Cluster) -> Double {
    cluster.marks.reduce(start(of: cluster)) { $0 + font.width(text($1.mark)) + 3 } - 3
  }

  /// The marks of each minute. Those of two minutes are together if the second would cover the number of the first and is
  /// insulin of another kind. Otherwise the number of a bolus would look like that of the basal insulin after it.
  private var clusters: [Cluster] {
    var clusters: [Cluster] = []
    for (instant, marks) in minutes {
      let isJoined =
        clusters.last.map { last in
          line.x(instant) < end(of: last) + 2.6
            && marks.allSatisfy { mark in !last.marks.contains { $0.mark.isSameKind(as: mark) } }
        } ?? false
      if !isJoined { clusters.append(Cluster(marks: [])) }
      clusters[clusters.count - 1].add(marks, at: line.x(instant), before: line.area.right)
    }
    return clusters
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
