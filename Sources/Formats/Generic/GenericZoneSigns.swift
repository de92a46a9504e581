// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A column that is not read, but shows something about the time zones of rows. That is a zone or a place, an
/// offset, summer time, or a difference to another zone.
struct ZoneSign {
  enum Meaning { case zone, offset, summerTime, difference, aroundRows }

  let name: String
  let meaning: Meaning
}

/// Counts the rows in which a column of a `ZoneSign` contradicts the zone in which the times were read. A
/// person may have given a wrong zone, or the logbook's zone may not be that of a journey.
struct GenericZoneSigns {
  private struct Contradiction {
    let sign: ZoneSign
    var count = 0
    /// The cell of the first row that contradicts the zone.
    var example = ""
  }

  /// Some programs change to and from summer time at other moments than the zone. So within this number of
  /// seconds from a change, both offsets are accepted.
  private static let slack: Int64 = 7200
  /// The number of different cells whose meaning is kept.
  private static let maxCells = 256

  private let zone: String
  private let stated: PlaceOffsets?
  private var contradictions: [Contradiction]
  private var offsets: [[UInt8]: PlaceOffsets] = [:]

  /// - Parameters:
  ///   - signs: the columns that state a zone or an offset, in the order of the `places` that `observe` gets.
  ///   - stated: a zone that is named in the header of the times or around the rows; nil without one.
  ///   - zone: the name of the zone that the times are read in.
  init?(_ signs: [ZoneSign], stated: String?, zone: String) {
    guard !signs.isEmpty || stated != nil else { return nil }
    self.zone = zone
    self.stated = stated.map { PlaceOffsets($0) }
    contradictions = signs.map { Contradiction(sign: $0) }
    if let stated { contradictions.append(Contradiction(sign: ZoneSign(name: stated, meaning: .aroundRows))) }
  }

  /// Compares a row with the offset that was used for its time.
  mutating func observe(_ row: Row, _ places: [Int], _ time: DeviceTime, offset: Int32) {
    for (index, place) in zip(contradictions.indices, places) {
      let cell = row[place].trimmed
      if cell.isEmpty || agrees(cell, contradictions[index].sign.meaning, time.seconds, offset) { continue }
      if contradictions[index].count == 0 { contradictions[index].example = cell.text }
      contradictions[index].count += 1
    }
    if let stated, !Self.agrees(stated, time.seconds, offset) {
      contradictions[contradictions.count - 1].count += 1
    }
  }

  private static func agrees(_ found: PlaceOffsets, _ seconds: Int64, _ offset: Int32) -> Bool {
    near(seconds - Int64(offset)).contains { found.at($0).map { $0 == offset } ?? true }
  }

  private mutating func agrees(_ cell: Field, _ meaning: ZoneSign.Meaning, _ seconds: Int64, _ offset: Int32)
    -> Bool
  {
    switch meaning {
    case .zone:
      let bytes = Array(cell.bytes)
      let found = offsets[bytes] ?? PlaceOffsets(cell.text)
      if offsets.count < Self.maxCells { offsets[bytes] = found }
      return Self.agrees(found, seconds, offset)
    case .aroundRows: return true
    case .offset:
      guard let number = cell.number(.point) else { return true }
      // Programs count to the east or to the west, in hours, minutes, seconds or milliseconds, so all of
      // these are tried.
      return [3600, 60, 1, 0.001].contains { abs(number) * $0 == abs(Double(offset)) }
    case .summerTime:
      guard let winter = zoneOffsets.winter, let isSummer = Self.isYes(cell) else { return true }
      let used = Self.near(seconds - Int64(offset)).compactMap { zoneOffsets.at($0) }
      // An offset that the zone never has is that of a journey. Nothing is known about journeys, so there is
      // no contradiction.
      guard used.contains(offset) else { return true }
      return used.contains { ($0 != winter) == isSummer }
    case .difference: return cell.number(.point).map { $0 == 0 } ?? true
    }
  }

  private lazy var zoneOffsets = PlaceOffsets(zone)

  private static func near(_ instant: Int64) -> [Int64] { [instant, instant - slack, instant + slack] }

  private static func isYes(_ cell: Field) -> Bool? {
    let text = cell.text
    return GenericDeviceWords.isMark(text) ? GenericDeviceWords.isYes(text) : nil
  }

  /// The warnings about times that may have been read in a wrong zone.
  var warnings: [String] {
    contradictions.filter { $0.count > 0 }.map { found in
      let (name, cell) = (shownName(found.sign.name), shownName(found.example))
      let rows = counted(found.count, "row")
      var subject = "the column \(name)"
      let what: String
      switch found.sign.meaning {
      case .zone, .offset: what = "has \(cell) in \(rows), which is not the offset of \(zone) at these times"
      case .summerTime:
        what = "contradicts the summer time of \(zone) in \(rows), whose times may be an hour off"
      case .aroundRows:
        subject = "the zone \(name) in the header or around the rows"
        what = "is not that of \(rows)"
      case .difference: what = "has differences of time in \(rows), such as \(cell), which are not read"
      }
      return
        "\(subject) \(what). The times were read in \(zone); if that is wrong, run 'glucoport undo', and import "
        + "the rows again with the right --timezone; --where picks those of one zone"
    }
  }
}

/// The offsets of a zone that a cell names, also by a place, an abbreviation, or in the words of Windows.
private struct PlaceOffsets {
  private let zone: NamedZone?
  private let fixed: Int32?

  init(_ text: String) {
    let name = text.contains("/") ? text : ZonePlace.zone(of: text) ?? Self.zoneName(of: text)
    zone = name.flatMap { NamedZone(known: $0) }
    fixed = zone == nil ? text.withField { $0.trimmed.utcOffset ?? $0.trimmed.namedOffset } : nil
  }

  var isKnown: Bool { zone != nil || fixed != nil }

  /// The offset at an instant; nil for a text that names no known zone.
  func at(_ instant: Int64) -> Int32? { zone?.offset(atUTC: instant) ?? fixed }

  /// The offset in winter; nil for an unknown zone.
  var winter: Int32? {
    zone.map { min($0.offset(atUTC: 1_767_225_600), $0.offset(atUTC: 1_782_864_000)) }
  }

  /// The zone of an abbreviation. A program may write the same abbreviation in winter and in summer.
  /// Abbreviations that several zones have are left out.
  private static func zoneName(of text: String) -> String? {
    let ending = [" Standard Time", " Daylight Time", " Summer Time"].first { text.hasSuffix($0) }
    return zones[ending.map { String(text.dropLast($0.count)) } ?? text]
  }

  private static let zones = [
    "UTC": "UTC", "GMT": "Europe/London", "WET": "Europe/Lisbon", "WEST": "Europe/Lisbon",
    "CET": "Europe/Berlin", "CEST": "Europe/Berlin", "MEZ": "Europe/Berlin", "MESZ": "Europe/Berlin",
    "EET": "Europe/Helsinki", "EEST": "Europe/Helsinki", "MSK": "Europe/Moscow", "BST": "Europe/London",
    "ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "EST": "America/New_York",
    "EDT": "America/New_York", "CDT": "America/Chicago", "MST": "America/Denver",
    "MDT": "America/Denver", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "JST": "Asia/Tokyo",
    "AEST": "Australia/Sydney", "AEDT": "Australia/Sydney", "NZST": "Pacific/Auckland",
    "NZDT": "Pacific/Auckland", "Eastern": "America/New_York", "Central": "America/Chicago",
    "Mountain": "America/Denver", "Pacific": "America/Los_Angeles", "W. Europe": "Europe/Berlin",
    "Central Europe": "Europe/Budapest", "Central European": "Europe/Warsaw", "Romance": "Europe/Paris",
    "Tokyo": "Asia/Tokyo", "AUS Eastern": "Australia/Sydney", "India": "Asia/Kolkata",
    "China": "Asia/Shanghai", "Eastern Time": "America/New_York", "Pacific Time": "America/Los_Angeles",
  ]
}

extension GenericFinding {
  /// The zone that is named above the table, around the objects, or in the name of the times' column; nil
  /// without one.
  var zoneAroundRows: String? {
    guard columns[.offset] < 0, !hasTimesOfUTC, !timesStateOffsets else { return nil }
    if let stated = header.statedZone { return stated }
    let times = [GenericRole.time, .date, .clock].map { columns[$0] }.filter { $0 >= 0 }
    return times.lazy.compactMap { Self.zone(inName: header.names[$0]) }.first
  }

  private static func zone(inName name: String) -> String? {
    name.split { !$0.isLetter && !$0.isNumber && !"+-/_".contains($0) }.map(String.init).first { word in
      (word.contains("/") || word == word.uppercased()) && !["UTC", "GMT"].contains(word)
        && PlaceOffsets(word).isKnown
    }
  }

  /// The columns that may state something about the zones of rows; empty if the times state their offsets.
  var zoneSigns: [(place: Int, sign: ZoneSign)] {
    guard columns[.offset] < 0, !hasTimesOfUTC, !timesStateOffsets else { return [] }
    return header.names.indices.compactMap { place in
      guard !columns.isUsed(place), let meaning = meaningAsZone(place) else { return nil }
      return (place, ZoneSign(name: header.names[place], meaning: meaning))
    }
  }

  private func meaningAsZone(_ place: Int) -> ZoneSign.Meaning? {
    let (words, cells) = (header.words[place], header.cells(place))
    guard !cells.isEmpty else { return nil }
    if words.isOfSummerTime { return cells.allSatisfy(GenericDeviceWords.isMark) ? .summerTime : nil }
    let areNumbers = cells.allSatisfy { $0.withField { $0.trimmed.number(.point) } != nil }
    if words.isTimeDifference { return areNumbers ? .difference : nil }
    // A column named only `offset` may hold the offset of a calibration, so it does not count as an offset of
    // times.
    if words.name != "offset", holdsUnreadOffsets(place) || (areNumbers && Self.isNameOfZones(words)) {
      return .offset
    }
    return mayHoldZones(place) && !areNumbers ? .zone : nil
  }
}

extension HeaderWords {
  fileprivate var isOfSummerTime: Bool {
    words.contains("dst")
      || [
        "daylight", "daylight saving", "daylight savings", "daylight saving time", "summer time",
        "summertime",
        "sommerzeit", "heure d'été", "horario de verano", "ora legale", "zomertijd", "sommertid", "sommartid",
      ].contains(name)
  }

  fileprivate var isTimeDifference: Bool {
    [
      "time diff", "time difference", "jetlag", "jet lag", "time shift", "timeshift", "zeitdifferenz",
      "zeitunterschied", "décalage horaire", "diferencia horaria", "tijdsverschil", "tidsforskel",
      "differenza oraria",
    ].contains(name)
  }
}
