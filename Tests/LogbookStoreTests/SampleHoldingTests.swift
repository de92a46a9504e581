// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import LogbookStore

/// Tests which of an input's readings are already in a store.
@Suite struct SampleHoldingTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func sensor(_ place: Int64, _ value: Double) -> Reading {
    Make.reading(.cbg, Make.milligrams(value), at: Make.noon + place * 300)
  }

  private func holdings(_ readings: [Reading], _ devices: [Device] = [Make.device]) throws -> [SampleHolding]
  {
    try scratch.open(.reader).holdings(of: readings, devices)
  }

  @Test func aStoredReadingIsFoundOnlyWithItsValue() throws {
    try scratch.ingest(Make.batch([sensor(0, 100), sensor(2, 120), sensor(4, 140)]))
    #expect(
      try holdings([sensor(0, 100), sensor(2, 121), sensor(3, 120), sensor(4, 140), sensor(5, 100)])
        == [.equal, .missing, .missing, .equal, .outside])
    let stick = Make.reading(.smbg, Make.milligrams(100), at: Make.noon)
    #expect(try holdings([stick]) == [.outside], "another kind")
    let other = Device(vendor: "Test", model: "Meter", serial: "S2", format: "test")
    #expect(try holdings([sensor(0, 100)], [other]) == [.outside], "another device")
  }

  @Test func aReadingHiddenByAnUndoIsNotFound() throws {
    let store = try scratch.open()
    #expect(try !store.hasShownReadings(of: Make.device))
    try scratch.ingest(Make.batch([sensor(0, 100)]))
    try scratch.ingest(Make.batch([sensor(1, 110)]))
    for (number, isShown) in [(Int64(1), true), (2, false)] {
      _ = try scratch.open(.editor).undo(number, group: Digest.uuid(of: ["\(number)"]), at: 10)
      #expect(try store.hasShownReadings(of: Make.device) == isShown)
    }
    #expect(try holdings([sensor(0, 100), sensor(1, 110)]) == [.missing, .missing])
    #expect(try !store.hasShownReadings(of: Device(vendor: "", model: "", serial: "S1", format: "test")))
  }
}
