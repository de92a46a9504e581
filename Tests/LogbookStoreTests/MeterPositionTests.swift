// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

/// Tests the stored position of a meter: the number of the last entry that was read from its memory.
struct MeterPositionTests {
  private let scratch: ScratchStore

  init() throws { scratch = try ScratchStore() }

  private func position(_ number: Int64, at seconds: Int64 = Make.noon) -> MeterPosition {
    MeterPosition(number: number, mark: "a", kind: .smbg, deviceTime: DeviceTime(seconds: seconds))
  }

  /// Imports a reading at these seconds, together with the meter's position.
  private func store(_ position: MeterPosition?, _ seconds: Int64) throws {
    let store = try scratch.open()
    let source = IngestSource(name: "meter", format: "test", startedAt: 1, modifiedAt: nil, decisions: [])
    try store.ingest(source, isAtomic: true) { writer in
      try writer.write(Make.batch([Make.reading(.smbg, Make.milligrams(100), at: seconds)]))
      try writer.storeMeter(Make.device, firmware: "", clock: nil, position: position)
      try writer.finish(end: .whole, digest: nil, generatedAt: nil, finishedAt: 2, decisions: [])
    }
  }

  @Test func theStoredPositionOfAMeterIsThatOfItsLastImport() throws {
    #expect(try scratch.open(.importer).meterPosition(of: Make.device) == nil)
    try store(position(1), Make.noon)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device) == position(1))
    try store(position(2, at: Make.noon + 60), Make.noon + 60)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device) == position(2, at: Make.noon + 60))
    // Another driver of the same meter may not know entry numbers. An import with that driver keeps the
    // stored position.
    try store(nil, Make.noon + 120)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device)?.number == 2)
    let other = Device(vendor: "Test", model: "Meter", serial: "S9", format: "test")
    #expect(try scratch.open(.reader).meterPosition(of: other) == nil)
  }

  @Test func aMeterPositionWhoseReadingIsHiddenIsIgnored() throws {
    try store(position(1), Make.noon)
    _ = try scratch.open(.editor).undo(1, group: Digest.uuid(of: ["group"]), at: 5000)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device) == nil)
  }

  @Test func aMeterPositionWithoutItsReadingIsIgnored() throws {
    try store(position(1, at: Make.noon + 60), Make.noon)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device) == nil)
  }

  @Test func aMeterPositionStoredByAnotherProgramVersionIsIgnored() throws {
    try store(position(1), Make.noon)
    let change = "UPDATE setting SET value = '{}' WHERE name LIKE 'meter %'"
    #expect(try scratch.refusal(.importer, change) == nil)
    #expect(try scratch.open(.reader).meterPosition(of: Make.device) == nil)
  }
}
