// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Columns of offsets that name UTC or GMT, such as `UTC+0100` or `GMT-4`.
///
/// The times next to such a column are local in most programs, but Samsung Health writes them in UTC.
extension GenericFinding {
  /// Uses the column of named offsets, or returns the problem that only a person knows whether the times are
  /// local or UTC.
  mutating func decideNamedOffsets() -> GenericProblem? {
    guard let place = indexOfNamedOffsets else { return nil }
    if timesStateOffsets || hasTimesOfUTC || namesLocalTimes {
      columns[.offset] = place
      return nil
    }
    let example = header.cells(place).first.map { ", such as \(shownName($0))" } ?? ""
    let times = [GenericRole.time, .date, .clock].map { columns[$0] }.filter { $0 >= 0 }
    return GenericProblem(
      "the column \(quoted([place])) holds offsets from UTC\(example), and nothing says whether the times in "
        + "\(quoted(times)) are local or in UTC", choices: columns.meanings(ofOffsets: place))
  }

  /// The problem of a column that is named for offsets, and whose numbers are from several zones. The numbers
  /// of one zone differ by at most an hour, between winter and summer. For such numbers, a person can give
  /// the zone instead.
  var changingOffsetsProblem: GenericProblem? {
    guard columns[.offset] < 0, !hasTimesOfUTC, !timesStateOffsets else { return nil }
    for place in header.names.indices where !columns.isUsed(place) && holdsUnreadOffsets(place) {
      let offsets = header.cells(place).compactMap { $0.withField { $0.trimmed.numericOffset } }
      guard let least = offsets.min(), let greatest = offsets.max(), greatest - least > 3600 else { continue }
      return GenericProblem(
        "the column \(quoted([place])) seems to hold offsets of several time zones, which are not read, and programs count "
          + "them to the east or to the west; if they count to the east, add offset=\(header.names[place]) to --map"
      )
    }
    return nil
  }

  /// Adds the column of named offsets to the choices of another problem, so that each suggested command reads
  /// it.
  func withNamedOffsets(_ problem: GenericProblem) -> GenericProblem {
    guard let place = indexOfNamedOffsets, !timesStateOffsets else { return problem }
    return problem.with(offsets: place)
  }

  private var indexOfNamedOffsets: Int? {
    guard columns[.offset] < 0 else { return nil }
    return header.names.indices.first { place in
      let cells = columns.isUsed(place) ? [] : header.cells(place)
      return cells.contains { $0.withField { $0.trimmed.namedOffset != nil } }
        && cells.allSatisfy { $0.withField { ($0.trimmed.namedOffset ?? $0.trimmed.utcOffset) != nil } }
    }
  }

  /// Whether a column has zones or offsets of the times, by its name or by each of its cells.
  func mayHoldZones(_ place: Int) -> Bool {
    let (cells, words) = (header.cells(place), header.words[place])
    guard !cells.isEmpty, !words.mentionsGlucose else { return false }
    if Self.isNameOfZones(words) { return true }
    let isNamed = !words.words.isDisjoint(with: ["offset", "zone"])
    if ZonePlace.isNameOfPlaces(words), cells.allSatisfy({ ZonePlace.key(of: $0) != nil }) { return true }
    return cells.allSatisfy { cell in
      Self.looksLikeZone(cell) || (isNamed && cell.withField { $0.trimmed.durationAsOffset } != nil)
    }
  }

  /// Whether a column with this name can only hold time zones or offsets from UTC. Under the name `zone` it
  /// may hold heart-rate zones of a training, and under `offset` the offset of a calibration.
  static func isNameOfZones(_ words: HeaderWords) -> Bool {
    let isOfTime = !words.words.isDisjoint(with: ["utc", "gmt", "zone", "time"])
    return words.role == .offset && !["offset", "zone", "gmt"].contains(words.name)
      || !words.words.isDisjoint(with: namesOfZones) || (isOfTime && words.words.contains("offset"))
  }

  private static let namesOfZones: Set<String> = [
    "tz", "timezone", "zeitzone", "zeitverschiebung", "utcoffset", "tzoffset", "zoneoffset", "gmtoffset",
    "timezoneoffset",
  ]

  /// Whether a text is the name of a time zone, also as Windows writes it, or `UTC` or `GMT` with an offset.
  private static func looksLikeZone(_ cell: String) -> Bool {
    isZoneName(cell) || ["MEZ", "MESZ"].contains(cell) || ["(UTC", "(GMT"].contains(where: cell.hasPrefix)
      || [" Standard Time", " Daylight Time", " Summer Time"].contains(where: cell.hasSuffix)
      || cell.withField { $0.trimmed.namedOffset } != nil
  }

  /// The problem of a time zone that is named above the table, or around the objects, and is not read. Nil
  /// without such a zone, and for times that state their offsets.
  var statedZoneProblem: GenericProblem? {
    guard let zone = header.statedZone, columns[.offset] < 0, !hasTimesOfUTC, !timesStateOffsets else {
      return nil
    }
    return GenericProblem(
      "the time zone \(shownName(zone)) is named outside of the rows, and is not read; give the zone of the times with --timezone"
    )
  }

  /// The time zone that a row above a table names: `America/New_York`, or any zone after a label, as in
  /// `# Time zone: EST`. Nil for any other row.
  static func zone(in row: [String]) -> String? {
    let text = row.filter { !$0.isEmpty }.joined(separator: ":")
    let parts = text.split(separator: ":", maxSplits: 1).map { part in
      String(part.drop { $0 == "#" || $0.isWhitespace }).withField { $0.trimmed.text }
    }
    guard let name = parts.last else { return nil }
    if parts.count == 2 {
      let label = HeaderWords(parts[0])
      if isNameOfZones(label) || label.words.isSuperset(of: ["time", "zone"]) {
        return looksLikeZone(name) || name.withField { $0.utcOffset != nil } ? name : nil
      }
    }
    return name.contains("/") && isZoneName(name) ? name : nil
  }

  /// The time zone that a member around the objects names; nil without one.
  static func zone(around header: GenericHeader, _ head: InputHead) -> String? {
    let members = ["timezone", "timeZone", "time_zone", "tz", "zone", "zoneId", "utcOffset", "utc_offset"]
    let own = Set(header.names.map { $0.split(separator: ".").last.map(String.init) ?? $0 })
    return members.lazy.filter { !own.contains($0) }.compactMap(head.value).first { name in
      looksLikeZone(name) || name.withField { $0.trimmed.utcOffset != nil }
    }
  }

  /// Whether the times themselves state their offsets.
  var timesStateOffsets: Bool {
    let times = columns[.time] >= 0 ? header.cells(columns[.time]) : []
    return !times.isEmpty && times.allSatisfy(Self.statesOffset)
  }

  private var namesLocalTimes: Bool {
    [GenericRole.time, .clock].contains { role in
      columns[role] >= 0
        && !header.words[columns[role]].words.isDisjoint(with: ["local", "localtime", "lokal"])
    }
  }
}

extension GenericColumns {
  /// The two meanings of these columns with a column of offsets: offsets of local times, and offsets of times
  /// in UTC.
  func meanings(ofOffsets place: Int) -> [GenericColumns] {
    var local = self
    local[.offset] = place
    guard self[.time] >= 0 else { return [local] }
    var universal = local.without(.time)
    universal[.utc] = self[.time]
    return [local, universal]
  }
}

extension Field {
  /// A duration of ISO 8601 as an offset to the east, in seconds: `PT1H`, `PT-5H30M`.
  var durationAsOffset: Int32? {
    guard count >= 4, count <= 10, slice(0, 2).equalsFolded("PT") else { return nil }
    let parts = text.dropFirst(2).uppercased().split(separator: "H", omittingEmptySubsequences: false)
    guard parts.count == 2, let hours = Int32(parts[0]), abs(hours) <= 14 else { return nil }
    guard !parts[1].isEmpty else { return hours * 3600 }
    guard parts[1].last == "M", let minutes = Int32(parts[1].dropLast()), abs(minutes) < 60 else {
      return nil
    }
    return hours * 3600 + minutes * 60
  }

  /// An offset in any notation: as a text, as a number of hours, minutes or seconds, or in milliseconds, as
  /// Android has it.
  var offsetInAnyForm: Int32? {
    if let offset = utcOffset ?? namedOffset ?? durationAsOffset ?? numericOffset { return offset }
    guard count <= 9, let milliseconds = number(.point), abs(milliseconds) <= 50_400_000,
      milliseconds.truncatingRemainder(dividingBy: 900_000) == 0
    else { return nil }
    return Int32(milliseconds / 1000)
  }

  /// The offset in seconds to the east that a text such as `UTC+2`, `GMT-0400` or `UTC+05:30` states; nil for
  /// any other text.
  var namedOffset: Int32? {
    guard count >= 5, count <= 12, slice(0, 3).equalsFolded("UTC") || slice(0, 3).equalsFolded("GMT") else {
      return nil
    }
    let rest = slice(3, count).trimmed
    if let offset = rest.utcOffset { return offset }
    // The hour may have one digit, as in `+2` or `+5:30`.
    guard rest.count >= 2, rest[0] == UInt8(ascii: "+") || rest[0] == UInt8(ascii: "-"), rest[1] &- 0x30 <= 9
    else { return nil }
    return Field.withText(rest.slice(0, 1).text + "0" + rest.slice(1, rest.count).text) { $0.utcOffset }
  }
}
