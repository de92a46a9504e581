// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

/// Tests which readings of an import are likely duplicates of another device's readings. Two readings match
/// if their shown minute and value agree.
struct LikelyDuplicateTests {
  private let scratch: ScratchStore
  private static let twin = Device(vendor: "Test", model: "Other", serial: "S2", format: "test")

  init() throws { scratch = try ScratchStore() }

  /// The ways in which sources write the time of one reading.
  enum Form: CaseIterable { case seconds, instants, counter, cut, rounded }

  /// Sensor readings every five minutes. `seconds` is how many seconds after the full minute each of them was
  /// taken.
  private static func values(
    _ numbers: some Sequence<Int64>, _ form: Form, seconds: Int64 = 41, plus difference: Double = 0
  ) -> [Reading] {
    numbers.map { number in
      let time = Make.noon + number * 300 + seconds
      let value = Double(80 + number % 50) + difference
      switch form {
      case .seconds: return Make.reading(.cbg, Make.milligrams(value), at: time)
      case .instants: return Make.tick((time - 7200) * 1000, value, at: time)
      case .counter: return Make.tick(number + 1, value, at: time)
      case .cut: return Make.reading(.cbg, Make.milligrams(value), at: time - seconds)
      case .rounded:
        return Make.reading(.cbg, Make.milligrams(value), at: time - seconds + (seconds < 30 ? 0 : 60))
      }
    }
  }

  /// Stores readings of a device, and returns the likely duplicates that the import reports.
  private func duplicates(_ readings: [Reading], of device: Device) throws -> [LikelyDuplicate] {
    let store = try scratch.open()
    let source = IngestSource(
      name: device.serial, format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    var found: [LikelyDuplicate] = []
    try store.ingest(source, isAtomic: false) { writer in
      try writer.write(Make.batch(readings, devices: [device]))
      found = try writer.likelyDuplicates()
    }
    return found
  }

  @Test(arguments: Form.allCases, Form.allCases)
  func likelyDuplicatesWithoutSecondsAreFoundWhicheverCameFirst(_ first: Form, _ second: Form) throws {
    #expect(try duplicates(Self.values(0..<50, first), of: Make.device) == [])
    let found = try duplicates(Self.values(30..<60, second), of: Self.twin)
    // One source truncates times to minutes and the other one rounds them. Their minutes differ, so no
    // duplicate is found.
    guard Set([first, second]) != [.cut, .rounded] else { return #expect(found == []) }
    #expect(found.map(\.readings) == [20], "\(found)")
    #expect(found.map(\.device) == ["Test Other S2"] && found.map(\.other) == ["Test Meter S1"])
  }

  @Test(arguments: [11, 12] as [Int64]) func fewEqualReadingsOfTwoDevicesAreNotReportedAsDuplicates(
    _ count: Int64
  ) throws {
    #expect(try duplicates(Self.values(0..<50, .instants), of: Make.device) == [])
    #expect(
      try duplicates(Self.values(0..<count, .cut), of: Self.twin).map(\.readings) == (count < 12 ? [] : [12]))
  }

  @Test func twoSensorsThatShareSomeValuesAreNotReportedAsDuplicates() throws {
    #expect(try duplicates(Self.values(0..<100, .instants), of: Make.device) == [])
    // Only every fifth value equals that of the first sensor.
    let other = (0..<100 as Range<Int64>).flatMap {
      Self.values($0..<$0 + 1, .seconds, plus: $0 % 5 == 0 ? 0 : 3)
    }
    #expect(try duplicates(other, of: Self.twin) == [])
  }

  @Test func equalValuesAMinuteApartAreNotReportedAsDuplicates() throws {
    #expect(try duplicates(Self.values(0..<100, .instants), of: Make.device) == [])
    #expect(try duplicates(Self.values(0..<100, .seconds, seconds: 101), of: Self.twin) == [])
  }

  @Test func onlyReadingsThatTheImportStoredAreReportedAsLikelyDuplicates() throws {
    #expect(try duplicates(Self.values(0..<100, .cut), of: Make.device) == [])
    #expect(try duplicates(Self.values(0..<100, .seconds), of: Self.twin).map(\.readings) == [100])
    #expect(try duplicates(Self.values(0..<100, .seconds), of: Self.twin) == [], "all known")
    #expect(try duplicates(Self.values(90..<105, .seconds), of: Self.twin) == [], "five of them are new")
  }

  @Test func aLongImportIsComparedForDuplicatesAsAWhole() throws {
    #expect(try duplicates(Self.values(0..<4000, .cut), of: Make.device) == [])
    #expect(try duplicates(Self.values(1000..<7000, .instants), of: Self.twin).map(\.readings) == [3000])
  }
}
