// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Draws the insulin or the carbohydrates of a day below its curve. Each minute with an amount has a mark,
/// and above the mark the amount as a number if there is space.
struct AmountLane {
  /// The amounts of one minute and one kind: rapid, basal or premixed insulin, or carbohydrates.
  private struct Mark {
    let ink: Ink
    let isBasal: Bool
    let isMixed: Bool
    var amounts: [Double]

    var sum: Double { amounts.reduce(0, +) }

    func isSameKind(as other: Mark) -> Bool { isBasal == other.isBasal && isMixed == other.isMixed }
  }

  /// A group of marks whose numbers are written next to each other, in the order of the marks.
  private struct Cluster {
    var marks: [(x: Double, mark: Mark)]

    /// Adds the marks of a minute. A mark is moved to the right if it would cover the mark of another kind to
    /// its left.
    mutating func add(_ others: [Mark], at x: Double, before edge: Double) {
      for mark in others {
        let least = marks.last.map { $0.x + ($0.mark.isSameKind(as: mark) ? 0 : AmountLane.step) } ?? x
        marks.append((max(x, least), mark))
      }
      // Marks in the last minutes of a day are moved to the left, so that all of them are before the right
      // edge.
      let excess = (marks.last?.x ?? edge) - edge
      if excess > 0 { for index in marks.indices { marks[index].x -= excess } }
    }

    var largest: Double { marks.map(\.mark.sum).max() ?? 0 }
  }

  /// The distance in points between marks of two kinds, so that none covers another.
  private static let step = 4.2
  /// The distance in points between two numbers.
  private static let gap = 3.0
  /// The maximum number of marks in a cluster. A pump that doses every five minutes would otherwise have one
  /// cluster for the whole day.
  private static let clusterMarks = 3

  let line: DayLine
  let kind: RecordKind
  /// The lower end of the marks.
  let floor: Double
  /// The height of the marks together with the numbers above them.
  let room: Double
  let font: Drawing.Font
  /// The sign after an amount of premixed insulin.
  var mixedSign = ""
  /// Returns the height of the mark for an amount, as a fraction of the height of the highest mark.
  let height: (Double) -> Double

  /// The height of the highest mark in points. The rest of `room` is for the number above it, since digits
  /// are 0.73 times the font size high.
  private var highest: Double { room - 0.73 * font.size - 1 }

  func draw(on drawing: inout Drawing) {
    let clusters = clusters
    for (x, mark) in clusters.flatMap(\.marks) {
      let height = highest * min(1, max(0.35, height(mark.sum)))
      drawing.rectangle(x - 1.1, floor - height, 2.2, height, fill: mark.ink)
      if mark.isBasal {
        drawing.line(x - 3, floor - height, x + 3, floor - height, Drawing.Stroke(ink: mark.ink, width: 1))
      }
    }
    for (cluster, start) in numbered(clusters, drawing.width - 4) {
      var x = start
      for (_, mark) in cluster.marks {
        drawing.text(text(mark), x, floor - highest - 1, font, mark.ink)
        x += font.width(text(mark)) + Self.gap
      }
    }
  }

  /// The clusters whose numbers have space, and the positions where the numbers begin. Clusters with the
  /// largest amounts get space first.
  private func numbered(_ clusters: [Cluster], _ edge: Double) -> [(Cluster, start: Double)] {
    var kept: [(index: Int, start: Double, end: Double)] = []
    let order = clusters.indices.sorted { (clusters[$1].largest, $0) < (clusters[$0].largest, $1) }
    for index in order {
      let width = width(of: clusters[index])
      let start = min(start(of: clusters[index]), edge - width)
      let end = start + width
      guard kept.allSatisfy({ end + Self.gap <= $0.start || start >= $0.end + Self.gap }) else { continue }
      kept.append((index, start, end))
    }
    return kept.sorted { $0.index < $1.index }.map { (clusters[$0.index], $0.start) }
  }

  /// The position where the numbers of a cluster begin: above its first mark.
  private func start(of cluster: Cluster) -> Double { (cluster.marks.first?.x ?? 0) - 1.1 }

  private func width(of cluster: Cluster) -> Double {
    cluster.marks.reduce(-Self.gap) { $0 + font.width(text($1.mark)) + Self.gap }
  }

  /// The marks, grouped into clusters. The marks of a minute join the previous cluster if the numbers of that
  /// cluster leave no space for the numbers of this minute.
  ///
  /// Without clusters, a mark close to another one would have no number. Or the number of a bolus would look
  /// like the number of the basal insulin after it.
  private var clusters: [Cluster] {
    var clusters: [Cluster] = []
    for (instant, marks) in minutes {
      let x = line.x(instant)
      let isJoined =
        clusters.last.map { last in
          x < start(of: last) + width(of: last) + Self.gap + 1.1
            && last.marks.count + marks.count <= Self.clusterMarks
        } ?? false
      if !isJoined { clusters.append(Cluster(marks: [])) }
      clusters[clusters.count - 1].add(marks, at: x, before: line.area.right)
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

  /// The number above a mark: the sum of its amounts. If there are several equal amounts, their number and
  /// one of them are shown. So a reader notices a dose that is stated twice.
  private func text(_ mark: Mark) -> String {
    let count = mark.amounts.count
    let isRepeated = count > 1 && Set(mark.amounts).count == 1
    let number = line.glucose.plain(isRepeated ? mark.amounts[0] : mark.amounts.reduce(0, +))
    return (isRepeated ? "\(count) × \(number)" : number) + (mark.isMixed ? mixedSign : "")
  }
}
