// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import LogbookStore

/// Tests which exports are refused since their sensor values cannot be from the person whose values the store
/// has at the same times.
@Suite struct SensorComparisonTests {
  private let scratch: ScratchStore
  private static let libre = Device(vendor: "Test", model: "Libre", serial: "L1", format: "test")
  private static let dexcom = Device(vendor: "Test", model: "Dexcom", serial: "D1", format: "test")

  /// Stores four days of sensor values of the first person, one every 15 minutes.
  init() throws {
    scratch = try ScratchStore()
    try store(Self.values(of: Self.first, every: 900), of: Self.libre)
  }

  private struct Value {
    var second: Int64
    var number: Double
  }

  /// The glucose of a person at a second, in mg/dL. It is the sum of sine waves with these periods in hours.
  private static func glucose(_ waves: [Double], _ second: Int64) -> Double {
    let hours = Double(second) / 3600
    return waves.enumerated().reduce(160) { $0 + 40 * sin(hours * 2 * .pi / $1.element + Double($1.offset)) }
  }
  private static let first = [5.3, 8.7, 27]
  private static let second = [4.1, 6.9, 31]

  private static func values(
    of waves: [Double], hours: Int64 = 96, every step: Int64 = 300, from start: Int64 = 60, lag: Int64 = 0
  ) -> [Value] {
    stride(from: start, to: start + hours * 3600, by: Int64.Stride(step)).map {
      Value(second: $0, number: glucose(waves, $0 - lag).rounded())
    }
  }

  private func store(
    _ values: [Value], of device: Device, isExport: Bool = true, acceptsPerson: Bool = false,
    persons: [StatedPerson] = []
  ) throws {
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [],
      acceptsPerson: acceptsPerson, persons: persons, isExport: isExport)
    let readings = values.map {
      Make.reading(.cbg, Make.milligrams($0.number), at: Make.noon + $0.second, source: .stated)
    }
    let store = try scratch.open()
    try store.ingest(source, isAtomic: false) { writer in
      writer.persons = persons
      for start in stride(from: 0, to: readings.count, by: 200) {
        try writer.write(
          Make.batch(Array(readings[start..<min(start + 200, readings.count)]), devices: [device]))
      }
      try writer.finish(end: .whole, digest: nil, generatedAt: nil, finishedAt: 2000, decisions: [])
    }
  }

  private func readings() throws -> Int { try scratch.number("SELECT count(*) FROM reading") }

  private func expectRefusal(_ location: SourceLocation = #_sourceLocation, _ work: () throws -> Void) throws
  {
    let failure = try #require(throws: Failure.self, sourceLocation: location) { try work() }
    #expect(failure.category == .badInput, sourceLocation: location)
    #expect(
      failure.message.contains("other sensor values at the same times as in the store")
        && failure.message.contains("with --yes input")
        && failure.message.contains("with --person NAME input"),
      "\(failure.message)", sourceLocation: location)
  }

  // MARK: Two persons

  @Test(arguments: [60, 310] as [Int64])
  func theExportOfAnotherPersonIsRefusedFromTwoDaysOn(start: Int64) throws {
    let others = Self.values(of: Self.second, from: start)
    try expectRefusal { try store(others, of: Self.dexcom) }
    // The refusal needs two days of values, so at most two days are stored before it.
    #expect(try readings() < 384 + 48 * 12)
  }

  @Test func valuesOfAnotherPersonUnderTheSameDeviceAreRefused() throws {
    try store(Self.values(of: Self.first), of: Self.dexcom)
    try expectRefusal { try store(Self.values(of: Self.second), of: Self.dexcom) }
  }

  @Test func theExportOfAnotherPersonIsAcceptedIfItIsShortOrNotAtTheSameTimes() throws {
    try store(Self.values(of: Self.second, hours: 47), of: Self.dexcom)
    try store(Self.values(of: Self.second, from: 97 * 3600), of: Self.dexcom)
    #expect(try readings() == 384 + 47 * 12 + 1152)
  }

  @Test func theExportOfAnotherPersonIsAcceptedIfAPersonConfirmsIt() throws {
    try store(Self.values(of: Self.second), of: Self.dexcom, acceptsPerson: true)
    #expect(try readings() == 384 + 1152)
  }

  @Test func theValuesOfAMeterAreNotComparedWithTheSensor() throws {
    try store(Self.values(of: Self.second), of: Self.dexcom, isExport: false)
    #expect(try readings() == 384 + 1152)
  }

  /// The writer stores what an input states about its person before the values.
  @Test func aNameThatOnlyTheExportItselfStatesDoesNotPreventTheRefusal() throws {
    let ben = try #require(StatedPerson(name: "Ben Sample"))
    try expectRefusal { try store(Self.values(of: Self.second), of: Self.dexcom, persons: [ben]) }
    try expectRefusal { try store(Self.values(of: Self.second), of: Self.dexcom, persons: [ben]) }
    try store(Self.values(of: Self.second), of: Self.dexcom, acceptsPerson: true, persons: [ben])
    try store(Self.values(of: Self.second), of: Self.dexcom, persons: [ben])
  }

  @Test func aStatedNameOfThePersonHasPrecedenceOverTheValues() throws {
    let anna = try #require(StatedPerson(name: "Anna Sample"))
    let account = try #require(StatedPerson(account: "Anna Sample", of: "test"))
    try store(Self.values(of: Self.second, hours: 1), of: Self.dexcom, persons: [anna, account])
    try expectRefusal { try store(Self.values(of: Self.second), of: Self.dexcom, persons: [account]) }
    try store(Self.values(of: Self.second), of: Self.dexcom, persons: [anna])
    #expect(try readings() == 384 + 1152)
  }

  // MARK: One person

  /// A reader and a phone receive the same sensor. The phone stores each value 40 seconds later and in
  /// mmol/L.
  @Test func aReaderAndAPhoneOfOneSensorAreAccepted() throws {
    let phone = Self.values(of: Self.first, every: 900, from: 100).map {
      Value(second: $0.second, number: (($0.number / 18.0182 * 10).rounded() * 1.80182).rounded())
    }
    try store(phone, of: Self.dexcom)
    #expect(try readings() == 2 * 384)
  }

  /// `lag` is the delay in seconds with which a watch uploads the values of a phone.
  @Test(arguments: [300, 600] as [Int64])
  func aWatchWhoseTimesAreMinutesLateIsAccepted(lag: Int64) throws {
    try store(Self.values(of: Self.first, from: 130, lag: lag), of: Self.dexcom)
    #expect(try readings() == 384 + 1152)
  }

  /// A person wears two sensors. The second one shows values that are 15 % higher, with noise.
  @Test func aSecondSensorOfThePersonIsAccepted() throws {
    let other = Self.values(of: Self.first, lag: 480).enumerated().map {
      Value(
        second: $1.second,
        number: ($1.number * (1.15 + Double($0 * 7919 % 31 - 15) / 100)).rounded())
    }
    try store(other, of: Self.dexcom)
    #expect(try readings() == 384 + 1152)
  }

  @Test func aSensorThatFailsForADayIsAccepted() throws {
    let failing = Self.values(of: Self.first).map {
      Value(second: $0.second, number: (24..<48).contains($0.second / 3600) ? 45 : $0.number)
    }
    try store(failing, of: Self.dexcom)
    #expect(try readings() == 384 + 1152)
  }

  /// The receiver of the sensor is set to another zone, or its clock was never set to summer time.
  @Test(arguments: [-6 * 3600, 3600] as [Int64])
  func aSensorWhoseClockIsHoursOffIsAccepted(seconds: Int64) throws {
    try store(Self.values(of: Self.first, from: 120, lag: seconds), of: Self.dexcom)
    #expect(try readings() == 384 + 1152)
  }

  /// The export contains the stored values and more values of the same sensor.
  @Test func aLongerExportOfTheStoredSensorIsAccepted() throws {
    try store(Self.values(of: Self.first, hours: 200, every: 900), of: Self.libre)
    #expect(try readings() == 800)
  }
}
