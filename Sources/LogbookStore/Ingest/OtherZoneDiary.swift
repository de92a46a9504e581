// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// The warning about a diary that an app wrote in another time zone than before.
///
/// Some apps store instants and write all times of an export in the zone that the phone has then. After a
/// journey, an export shows all earlier doses and meals at other times, so they are stored a second time.
///
/// If a person gave the zone of the export, the instants of both exports are equal. Two doses of one person
/// never have equal instants by chance so often. Without the zone, all items are at one distance from those
/// of earlier imports. This is not enough evidence, since a person may take equal doses at the same times of
/// each day. So both exports must have nearly nothing else in this period.
struct OtherZoneDiary {
  /// The minimum number of items that the input has at other times than earlier imports.
  static let minShared = 10
  /// The minimum number of different amounts of these items, if only their distance is constant.
  private static let minAmounts = 3
  /// The offsets of all zones are multiples of this number of seconds.
  private static let step: Int64 = 900
  /// The maximum number of distances that are examined: those with the most pairs.
  private static let maxCandidates = 4
  /// Above this number of imports, their commands are written as a loop of the shell.
  private static let maxListed = 3

  private typealias ItemPair = (new: Int, earlier: Int)

  private let items: [DiaryItem]
  private var pairs: [ItemPair] = []
  /// The shown time in earlier imports minus that in this input, in seconds.
  private var distance: Int64 = 0
  /// Whether the instants of the pairs are equal.
  private(set) var hasEqualInstants = false
  /// The imports that state the earlier items, and that are not undone.
  private var imports: [Int64] = []

  /// Nil if the input has no or too few items that seem to be items of earlier imports at other times.
  ///
  /// - Parameter times: a range of shown times with all new items of the import.
  init?(_ database: Database, ingest: Int64, _ times: ClosedRange<Int64>) throws {
    let range =
      times.lowerBound - DeviceTime.largestDifference...times.upperBound + DeviceTime.largestDifference
    items = try DiaryItem.all(database, ingest: ingest, range)
    let found = pairsByDistance()
    let counts = found.mapValues { count($0) }
    let candidates = counts.filter { $0.value >= Self.minShared && $0.key != 0 }
      .sorted { ($1.value, abs($0.key), $0.key) < ($0.value, abs($1.key), $1.key) }
    for (distance, _) in candidates.prefix(Self.maxCandidates) {
      let all = found[distance] ?? []
      let equal = all.filter { countTwiceAtOneInstant(items[$0.new], items[$0.earlier]) }
      hasEqualInstants = count(equal) >= Self.minShared
      let neighbours = [distance - 86_400, distance + 86_400].map { counts[$0] ?? 0 }
      pairs =
        hasEqualInstants ? equal : shifted(all, by: distance, same: found[0] ?? [], neighbours.max() ?? 0)
      self.distance = distance
      if try !pairs.isEmpty && findImports(database, besides: ingest) { return }
    }
    return nil
  }

  /// The pairs of a new item and an equal earlier one, by their distance. Callers need only distances by
  /// which zones can differ, and 0.
  private func pairsByDistance() -> [Int64: [ItemPair]] {
    var earlier: [Int: [Int]] = [:]
    for (index, item) in items.enumerated() where !item.isNew {
      earlier[item.content, default: []].append(index)
    }
    var (first, found): ([Int: Int], [Int64: [ItemPair]]) = ([:], [:])
    for (index, item) in items.enumerated() where item.isNew {
      guard let equal = earlier[item.content] else { continue }
      var next = first[item.content] ?? 0
      while next < equal.count, items[equal[next]].time < item.time - DeviceTime.largestDifference {
        next += 1
      }
      first[item.content] = next
      for other in equal[next...].prefix(Self.maxEqual) {
        let distance = items[other].time - item.time
        if distance > DeviceTime.largestDifference { break }
        if distance % Self.step == 0 { found[distance, default: []].append((index, other)) }
      }
    }
    return found
  }

  /// The maximum number of equal earlier items that are compared with a new one. A pump's algorithm delivers
  /// some hundred equal doses in two days.
  private static let maxEqual = 512

  private func countTwiceAtOneInstant(_ new: DiaryItem, _ earlier: DiaryItem) -> Bool {
    new.instant == earlier.instant && (new.isPlaced == earlier.isPlaced || !new.isOfTable)
  }

  /// The number of pairs, if each item is in one pair only.
  private func count(_ pairs: [ItemPair]) -> Int {
    min(Set(pairs.map(\.new)).count, Set(pairs.map(\.earlier)).count)
  }

  /// Selects the pairs of items whose exports seem to have all times in two zones; none if the exports do
  /// not.
  ///
  /// - Parameters:
  ///   - same: the pairs at the same shown time.
  ///   - neighbours: the number of pairs at a distance that is a day longer or shorter. Doses at the same
  ///     times of each day have such pairs, too.
  private func shifted(
    _ pairs: [ItemPair], by distance: Int64, same: [ItemPair], _ neighbours: Int
  ) -> [ItemPair] {
    // A dose at the same time of each day is a day after an equal one.
    guard abs(distance) != 86_400 else { return [] }
    let placed = pairs.filter { items[$0.new].isPlaced && items[$0.earlier].isPlaced }
    guard count(placed) >= Self.minShared, neighbours * 2 < count(placed) else { return [] }
    let ofImports = Dictionary(grouping: placed) { items[$0.earlier].ingest }
    let chosen = ofImports.filter { ingest, pairs in
      covers(Set(pairs.map(\.earlier))) { !$0.isNew && $0.ingest == ingest }
    }.flatMap(\.value)
    let new = Set(chosen.map(\.new))
    let matched = count(chosen)
    let amounts = Set(chosen.map { items[$0.new].amount })
    let atSameTime = Set(same.map(\.new))
    guard matched >= Self.minShared, amounts.count >= Self.minAmounts, neighbours * 2 < matched,
      covers(new, { $0.isNew }), new.intersection(atSameTime).count * 3 < matched
    else { return [] }
    return chosen
  }

  /// Whether these items are at least two thirds of all items from the same sources that meet a condition, in
  /// their period. A tenth at each end of the period is left out, since a few items may be equal by chance.
  private func covers(_ chosen: Set<Int>, _ condition: (DiaryItem) -> Bool) -> Bool {
    let sources = Set(chosen.map { items[$0].source })
    // The items are in the order of time.
    let inner = chosen.sorted().dropFirst(chosen.count / 10).dropLast(chosen.count / 10)
    guard let first = inner.first, let last = inner.last else { return false }
    let all = (first...last).filter { sources.contains(items[$0].source) && condition(items[$0]) }
    return inner.count * 3 >= all.count * 2
  }

  /// Finds the imports that state the earlier items. Returns false if none of them can be undone. Without
  /// equal instants, it also returns false if this input states the earlier items, since both are items of
  /// one export.
  private mutating func findImports(_ database: Database, besides ingest: Int64) throws -> Bool {
    let found = try DiaryItem.imports(of: Set(pairs.map(\.earlier)).sorted().map { items[$0] }, database)
    if !hasEqualInstants, found.count(where: { $0.contains(ingest) }) * 3 >= found.count { return false }
    let own = try Int64.fetchSet(
      database.cachedStatement(sql: "SELECT id FROM ingest WHERE NOT (\(UndoPlan.isPulled))"))
    imports = found.reduce(into: Set<Int64>()) { $0.formUnion($1) }.intersection(own).subtracting([ingest])
      .sorted()
    return !imports.isEmpty
  }

  /// The warning, with the commands that count each item once.
  ///
  /// - Parameter command: the command that imports the input again in its zone.
  func text(_ command: String) -> String {
    let kinds = Set(pairs.map { items[$0.new].isReading })
    let names =
      kinds == [true]
      ? "finger sticks" : kinds == [false] ? "doses and meals" : "doses, meals and finger sticks"
    let source =
      switch imports.count {
      case 1: "import \(imports[0])"
      case ...Self.maxListed: "imports " + list(imports.map(String.init))
      default: "\(imports.count) earlier imports"
      }
    let numbers = imports.map(String.init)
    let undo =
      imports.count > Self.maxListed
      ? "'for n in \(numbers.joined(separator: " ")); do glucoport undo $n; done'"
      : numbers.map { "'glucoport undo \($0)'" }.joined(separator: ", ")
    let hours = plainNumber(Double(abs(distance)) / 3600)
    return
      "\(count(pairs)) \(names) of this input are \(hasEqualInstants ? "at the instants of those of" : "also in") \(source), "
      + "which \(imports.count == 1 ? "shows" : "show") them \(hours) \(hours == "1" ? "hour" : "hours") "
      + "\(distance > 0 ? "later" : "earlier"), and count twice; if the app wrote all its "
      + "times in the zone of the phone: \(undo), and then '\(command)'"
      + (hasEqualInstants ? "" : ", where ZONE is the zone of the phone at this export")
  }

  private func list(_ words: [String]) -> String {
    words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
  }
}

extension IngestWriter {
  /// The warning that the input has the same doses, meals and finger sticks as earlier imports, at the times
  /// of another zone. Nil without such items.
  package func diaryInOtherZone() throws -> String? {
    let new = counts.newRecords + counts.newByKind[ReadingKind.smbg.name, default: 0]
    guard !source.isMerge, !source.isFetched, new >= OtherZoneDiary.minShared,
      let first = counts.firstCounted, let last = counts.lastCounted, first <= last,
      try hasEarlierImport(), let diary = try OtherZoneDiary(database, ingest: id, first...last)
    else { return nil }
    let zone =
      diary.hasEqualInstants ? try source.zone?.given?.name ?? LogbookZones(database).base.name : "ZONE"
    let options = ["--again", "--timezone", zone]
    return diary.text(
      try command(importing: id, options, besides: "zone")
        ?? (["glucoport", "import"] + options + [source.name]).map(\.shellWord).joined(separator: " "))
  }

  private func hasEarlierImport() throws -> Bool {
    try Bool.fetchOne(
      database.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM ingest WHERE id <> ? AND format = ?)"),
      arguments: [id, source.format]) ?? false
  }
}
