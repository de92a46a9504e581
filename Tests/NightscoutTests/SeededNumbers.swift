// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom

/// Readings and records of every kind, reproducible by a seed.
struct SeededNumbers: RandomNumberGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed &* 0x9E37_79B9_7F4A_7C15) }

  mutating func next() -> UInt64 { random.next() }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }

  private mutating func text() -> String {
    pick(["", "lunch", "5 < 6 & x", "&lt;", "\"quoted\" \\ and\nlines", "Ä 😀", "a.b$c", "0", "  blank "])
  }

  mutating func guid() -> String { Digest.uuid(of: ["guid", String(next())]) }

  mutating func reading() -> (Reading, Device) {
    let device = pick([
      Device(vendor: "Abbott", model: "Libre", serial: "S|%1", format: "x"),
      Device(vendor: "", model: "A \"meter\"", format: "generic"),
    ])
    let seconds = Int64.random(in: 1_000_000_000...1_900_000_000, using: &self)
    let placement = Placement(
      utcOffset: pick([0, 7200, -12600, 20700, 8423, -86_340]), source: pick(OffsetSource.allCases))
    let unit = pick(GlucoseUnit.allCases)
    let number = pick([0.1, 5.5, 6.05, 39, 100, 401, 123.4])
    let measurement = pick([
      Measurement.value(Quantity(number, unit)), .low(below: pick([nil, 20, 1.1]), unit),
      .high(above: pick([nil, 500]), unit),
    ])
    let marks = pick([[], ReadingMarks.manual, [.linked, .atLimit], .controlSolution])
    let (kind, time) = (pick(ReadingKind.allCases), DeviceTime(seconds: seconds))
    // If the source states only the instant, a shown time cannot be the position.
    var reading =
      Bool.random(using: &self) && placement.source != .instant
      ? Reading(
        device: DeviceIndex(0), kind: kind, at: time, placement: placement, measurement, marks: marks, line: 0
      )
      : Reading(
        device: DeviceIndex(0), kind: kind,
        tick: pick([0, 7, -3, 1_778_085_000_123, 999_999_999_999_999_999, -999_999_999_999_999_999]),
        at: time,
        placement: placement, measurement, marks: marks, line: 0)
    reading.occurrence = Int32(pick([0, 0, 1, 5]))
    reading.occurrenceIsStated = true
    return (reading, device)
  }

  mutating func state() -> RecordState {
    let kind = pick(RecordKind.known)
    var fields: [String: FieldValue] = [:]
    for name in ["units", "rate", "minutes", "carbs", "protein", "fat", "steps"]
    where Bool.random(using: &self) {
      fields[name] = .number(pick([0, 1, 4.5, 0.05, 120]))
    }
    for name in ["text", "a.b", "$c"] where Bool.random(using: &self) { fields[name] = .text(text()) }
    fields["subtype"] = pick([nil, .text("rapid"), .text("long"), .text("basal"), .text("mix")])
    fields["excluded"] = pick([nil, .flag(true)])
    fields["tags"] = pick([nil, .words(["a", "b<c"])])
    return RecordState(
      kind: kind, entryGuid: Bool.random(using: &self) ? guid() : nil,
      deviceTime: DeviceTime(seconds: Int64.random(in: 1_000_000_000...1_900_000_000, using: &self)),
      placement: Placement(utcOffset: pick([0, 7200, -12600, 8423]), source: pick(OffsetSource.allCases)),
      fields: RecordFields(fields), isDeleted: false, editedAt: pick([nil, 1_778_000_000]))
  }
}
