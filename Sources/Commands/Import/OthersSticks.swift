// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore

/// Compares the finger sticks that an import brought with those of other imports on the same days. The other
/// imports may be of another person.
///
/// If two sources have finger sticks of one person, the values are copies, or were measured at different
/// times. Two persons measure at the same meals, so their values within minutes often differ more than those
/// of one person. Measured with the six persons of OhioT1DM: 71 in 100 pairs of persons are found with two
/// weeks of data, 90 with a month. If the sticks of one person are divided between two meters, none of 648
/// divisions is reported. If the clock of one meter is hours wrong, 20 to 36 in 100 divisions are reported,
/// so the message names this cause, too.
struct OthersSticks {
  private struct Stick {
    let seconds: Int64
    /// The value in mg/dL.
    let value: Double
    let ingest: Int64
  }

  /// The maximum time between two sticks that are compared, in seconds. Within this time, two sticks of one
  /// person have similar values.
  private static let nearSeconds: Int64 = 300
  private static let minRatio = 1.25
  private static let minContradictions = 3
  /// The minimum number of sticks of an import for a comparison.
  private static let minSticks = 4
  /// The maximum number of sticks of an import for a comparison, more than a person measures in ten years. A
  /// table with millions of sticks would need too much memory.
  private static let maxSticks = 50_000
  private static let minDays = 2
  private static let secondsPerDay: Int64 = 86_400

  private let own: Int64
  private let source: String
  /// What a person should do after `undo` if the sticks are of another person, in the words of the message.
  private let advice: String
  private var sticks: [Stick] = []

  /// Reads the finger sticks from a day before the import's first item to a day after its last item. The
  /// result is nil if the import brought fewer than `minSticks` or more than `maxSticks`.
  ///
  /// - Parameter advice: what a person should do after `undo` if the sticks are of another person.
  init?(_ report: ImportReport, in store: Store, advice: String = "import it with --person NAME") throws {
    let number = report.counts.newByKind[ReadingKind.smbg.name, default: 0]
    guard (Self.minSticks...Self.maxSticks).contains(number),
      let first = report.counts.firstTime, let last = report.counts.lastTime
    else { return nil }
    (own, source, self.advice) = (report.ingest, report.source, advice)
    var filter = ItemFilter()
    (filter.readingKinds, filter.recordKinds) = ([.smbg], [])
    filter.limitShown(since: first - Self.secondsPerDay, until: last + Self.secondsPerDay)
    var found: [Stick] = []
    try store.forEachItem(filter) { item in
      guard found.count < Self.maxSticks, case .reading(let reading) = item,
        let quantity = reading.measurement.quantity
      else { return }
      found.append(
        Stick(
          seconds: reading.deviceTime.seconds, value: quantity.converted(to: .milligramsPerDecilitre).number,
          ingest: reading.ingest))
    }
    sticks = found
  }

  /// A warning about another import of the same days that may be of another person; nil if nothing indicates
  /// this.
  func warning(in store: Store) throws -> String? {
    if let other = contradicting { return try text(other, in: store, "differ within minutes in") }
    // A job may bring each stick by a separate import. So the sticks are grouped once, and not for each
    // import.
    let byIngest = Dictionary(grouping: sticks, by: \.ingest)
    let mine = byIngest[own] ?? []
    let days = Self.days(of: mine)
    for (other, theirs) in byIngest.sorted(by: { $0.key < $1.key }) where other != own {
      guard Self.share(days, Self.days(of: theirs)), !Self.agree(mine, theirs),
        let entry = try store.ingest(other), Self.mayBePersons(source, entry.source)
      else { continue }
      return try text(other, in: store, "have no value in common with")
    }
    return nil
  }

  /// Another import whose values differ within minutes from those of this import, which is impossible for one
  /// person; nil if there is none.
  private var contradicting: Int64? {
    let sorted = sticks.sorted { ($0.seconds, $0.ingest) < ($1.seconds, $1.ingest) }
    let pairs = zip(sorted, sorted.dropFirst()).filter { one, next in
      (one.ingest == own) != (next.ingest == own) && next.seconds - one.seconds <= Self.nearSeconds
    }
    let contradictions = pairs.filter { max($0.value, $1.value) > min($0.value, $1.value) * Self.minRatio }
    guard Set(contradictions.map { $0.0.seconds / Self.secondsPerDay }).count >= Self.minContradictions,
      contradictions.count * 2 >= pairs.count
    else { return nil }
    var counts: [Int64: Int] = [:]
    for pair in contradictions {
      counts[pair.0.ingest == own ? pair.1.ingest : pair.0.ingest, default: 0] += 1
    }
    return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  private static func days(of sticks: [Stick]) -> Set<Int64> {
    Set(sticks.lazy.map { DeviceTime.day(of: $0.seconds) })
  }

  private static func share(_ days: Set<Int64>, _ others: Set<Int64>) -> Bool {
    let common = days.intersection(others).count
    return common >= minDays && common * 4 >= min(days.count, others.count)
  }

  /// Whether two imports have values in common. If they have, they count as imports of one person, who may
  /// type the values of a meter into an app.
  private static func agree(_ mine: [Stick], _ theirs: [Stick]) -> Bool {
    let minutes = Dictionary(grouping: theirs) { $0.seconds / 60 }
    let common = mine.count { stick in
      (-1...1).contains { shift in
        minutes[stick.seconds / 60 + shift]?.contains { abs($0.value - stick.value) < 1 } == true
      }
    }
    return common * 10 >= min(mine.count, minutes.count)
  }

  private static func mayBePersons(_ one: String, _ other: String) -> Bool {
    let names = PartName.differing(one, other)
    // Only words may be names: `sugar1.csv` and `sugar2.csv` are not named for persons.
    let (first, second) = (words(names.0), words(names.1))
    return !SheetName.differOnlyInDescription(names.0, names.1)
      && [
        names.0, names.1, first.subtracting(second).joined(separator: " "),
        second.subtracting(first).joined(separator: " "),
      ]
      .allSatisfy(SheetName.mayNamePerson)
  }

  private static func words(_ name: String) -> Set<String> {
    Set(name.lowercased().split { !$0.isLetter }.map(String.init))
  }

  private func text(_ other: Int64, in store: Store, _ what: String) throws -> String {
    let entry = try store.ingest(other)
    let name = entry.map { " (\(displayed($0.source)))" } ?? ""
    return
      "its finger sticks \(what) those of import \(other)\(name) on the same days. If they are of another person, undo this import "
      + "with \(quotedCommand("glucoport", "undo", String(own))), and \(advice); if not, compare the clocks and "
      + "zones of both"
  }
}

/// Shortens the names of two inputs for a comparison.
enum PartName {
  /// The parts of both names that differ: the names without their common folders and containers.
  static func differing(_ one: String, _ other: String) -> (String, String) {
    let common = zip(one, other).prefix { $0 == $1 }.map(\.0)
    let kept = (common.lastIndex { $0 == ":" || $0 == "/" } ?? -1) + 1
    return (String(one.dropFirst(kept)), String(other.dropFirst(kept)))
  }
}
