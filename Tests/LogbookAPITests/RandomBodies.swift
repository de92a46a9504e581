// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import SeededRandom

/// Random contents of bodies of every kind, reproducible by seed.
struct RandomBodies {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func text(_ max: Int = 12) -> String {
    let signs: [Character] = [
      "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\u{1}", "\u{7F}", "é", "漢", "😀", "|", "%",
    ]
    return String(
      (0..<Int.random(in: 0...max, using: &random)).map { _ in signs.randomElement(using: &random) ?? "a" })
  }

  mutating func guid() -> String {
    let digits = (0..<32).map { _ in String(Int.random(in: 0..<16, using: &random), radix: 16) }.joined()
    var text = ""
    for (index, digit) in digits.enumerated() {
      if [8, 12, 16, 20].contains(index) { text.append("-") }
      text.append(digit)
    }
    return text
  }

  mutating func token() -> String { "\(Int.random(in: 0...99_999, using: &random)).\(guid().prefix(8))" }

  mutating func optionalToken() -> String? { Bool.random(using: &random) ? token() : nil }

  mutating func time() -> DeviceTime {
    DeviceTime(seconds: Int64.random(in: -62_135_596_800...253_402_300_799, using: &random))
  }

  mutating func placement() -> Placement {
    let offsets: [Int32] = [0, 3600, 7200, -12600, 20700, 86399, -86399, -2_670, 45]
    return Placement(
      utcOffset: offsets.randomElement(using: &random) ?? 0,
      source: OffsetSource.allCases.randomElement(using: &random) ?? .stated)
  }

  mutating func measurement() -> Measurement {
    let unit: GlucoseUnit = Bool.random(using: &random) ? .milligramsPerDecilitre : .millimolesPerLitre
    let threshold = Bool.random(using: &random) ? Double(Int.random(in: 0...500, using: &random)) : nil
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return .low(below: threshold, unit)
    case 1: return .high(above: threshold, unit)
    case 2: return .value(Quantity(Double.random(in: 0...10_000, using: &random), unit))
    default: return .value(Quantity(Double(Int.random(in: 0...6000, using: &random)) / 10, unit))
    }
  }

  mutating func reading(device: Int) -> Reading {
    let kind = ReadingKind.allCases.randomElement(using: &random) ?? .cbg
    let marks = ReadingMarks(rawValue: UInt16.random(in: 0..<4096, using: &random))
    let (time, placement, measurement) = (time(), placement(), measurement())
    let tick = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
    // If the source states only the instant, the shown time is not the reading's position, and the reading is
    // sent in UTC.
    if placement.source == .instant {
      var reading = Reading(
        device: DeviceIndex(Int32(device)), kind: kind, tick: tick, at: time, placement: placement,
        measurement, line: 0
      ).withoutZone
      reading.occurrenceIsStated = true
      return reading
    }
    var reading =
      Bool.random(using: &random)
      ? Reading(
        device: DeviceIndex(Int32(device)), kind: kind, at: time, placement: placement, measurement, line: 0)
      : Reading(
        device: DeviceIndex(Int32(device)), kind: kind,
        tick: tick, at: time,
        placement: placement, measurement, line: 0)
    if Bool.random(using: &random) { reading.marks = marks }
    reading.occurrence = Int32.random(in: 0...3, using: &random)
    reading.occurrenceIsStated = true
    return reading
  }

  mutating func batch() -> ReadingBatch {
    let devices = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      Device(vendor: text(), model: text(), serial: text(), format: text())
    }
    let readings = (0..<Int.random(in: 0...30, using: &random)).map { _ in
      reading(device: Int.random(in: 0..<devices.count, using: &random))
    }
    return ReadingBatch(devices: devices, readings: readings)
  }

  mutating func fields() -> RecordFields {
    var fields = RecordFields()
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let value: FieldValue
      switch Int.random(in: 0..<4, using: &random) {
      case 0: value = .number(Double.random(in: -1e9...1e9, using: &random))
      case 1: value = .text(text(40))
      case 2: value = .flag(Bool.random(using: &random))
      default: value = .words(Set((0..<3).map { _ in text() }).sorted())
      }
      fields["f" + text()] = value
    }
    return fields
  }

  mutating func state() -> RecordState {
    let isDeleted = Int.random(in: 0..<4, using: &random) == 0
    return RecordState(
      kind: (RecordKind.known + [RecordKind(rawValue: "of-a-newer-one")].compactMap(\.self))
        .randomElement(using: &random) ?? .note,
      entryGuid: Bool.random(using: &random) ? guid() : nil, deviceTime: time(), placement: placement(),
      fields: isDeleted ? RecordFields() : fields(), isDeleted: isDeleted,
      editedAt: Bool.random(using: &random) ? time().seconds : nil)
  }

  mutating func change() -> RecordChange {
    RecordChange(
      guid: guid(), node: guid(), version: Int.random(in: 1...1_000_000, using: &random),
      base: optionalToken(),
      state: state())
  }

  mutating func verdict() -> RecordVerdict {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .accepted(revision: token())
    case 1: .conflict(revision: token(), state: state(), isBaseKnown: Bool.random(using: &random))
    default: .refused(reason: text())
    }
  }

  mutating func page() -> ChangePage {
    ChangePage(
      readings: batch(),
      records: (0..<Int.random(in: 0...4, using: &random)).map { _ in
        RemoteRecord(guid: guid(), revision: token(), state: state())
      }, cursor: token(), hasMore: Bool.random(using: &random))
  }

  mutating func digests() -> IdentityDigests {
    var digests = IdentityDigests()
    for _ in 0..<Int.random(in: 0...50, using: &random) {
      digests.insert((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
    return digests
  }

  /// One body of each call, with a function that reads it.
  mutating func bodies() -> [(name: String, bytes: [UInt8], read: @Sendable ([UInt8]) throws -> Void)] {
    let batch = batch()
    return [
      ("readings", WireCodec.writeReadings(batch), { _ = try WireCodec.readReadings($0) }),
      (
        "reading answer",
        WireCodec.write(ReadingAnswer(stored: 1, known: 1, differing: [1], position: token())),
        { _ = try WireCodec.readReadingAnswer($0, sent: 2) }
      ),
      ("changes", WireCodec.writeChanges([change().json]), { _ = try WireCodec.readChanges($0) }),
      (
        "record answer", WireCodec.write(RecordAnswer(verdicts: [verdict(), verdict()])),
        { _ = try WireCodec.readRecordAnswer($0, sent: 2) }
      ),
      ("page", WireCodec.write(page()), { _ = try WireCodec.readPage($0) }),
      (
        "logbook",
        WireCodec.write(
          RemoteLogbook(id: guid(), name: text(), isWritable: true, maxReadings: 1, maxRecords: 1, time: 0)),
        { _ = try WireCodec.readLogbook($0) }
      ),
      ("digests", WireCodec.write(digests()), { _ = try WireCodec.readDigests($0) }),
      ("error", ErrorBody(.busy, text()).json, { _ = try ErrorBody($0) }),
    ]
  }
}
