// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Meters
import SimulatedMeters
import SimulatedUSB
import Testing

/// The built binary with a simulated meter of every family, through the real libusb or a terminal.
@Suite struct MeterFamilyTests {
  private static let values: [Double] = [95, 254, 61, 187]

  @Test(arguments: SimulatedRegister.all)
  func aMeterOfEveryFamilyIsReadAndStoredOnce(_ family: SimulatedFamily) async throws {
    let program = try Program()
    let memory = try Self.memory(family)
    for round in 0..<2 {
      // Plugged in anew each time, as a cable is: some meters talk once and then no more.
      let bus = try SimulatedBus()
      try Self.plug(family, memory, to: bus)
      let outcome = try await program.run(
        arguments: ["import", "--meter", "--driver", family.driver, "--timezone", "UTC", "--json"],
        environment: bus.environment)
      #expect(outcome.status == 0, "\(outcome.errors)")
      let report = try #require(try outcome.objects().first)
      #expect(report["new"] as? Int == (round == 0 ? memory.items.count : 0), "\(report)")
      #expect(report["known"] as? Int == (round == 0 ? 0 : memory.items.count), "\(report)")
    }
    let stored = try StoreFile(program.store).readings().map { line in
      let columns = line.split(separator: "|", omittingEmptySubsequences: false)
      let unit = columns[12] == "0" ? GlucoseUnit.milligramsPerDecilitre : .millimolesPerLitre
      let value = Quantity(try #require(Double(columns[11])), unit)
      return "\(columns[8]) \(value.tenthsOfMillimole)"
    }
    let held = memory.items.map { "\($0.deviceTime.seconds) \($0.measurement.level)" }
    #expect(stored.sorted() == held.sorted())
  }

  private static func memory(_ family: SimulatedFamily) throws -> SimulatedMemory {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: Int64(Date().timeIntervalSince1970)))
    memory.items = try values.enumerated().map { index, value in
      let time = try #require(DeviceTime(year: 2026, month: 5, day: 4, hour: 7 + index))
      return SimulatedItem(
        family.driver == "dexcom-g4" ? .cbg : .smbg, at: time,
        .value(Quantity(value, .milligramsPerDecilitre)))
    }.filter(family.holds)
    #expect(memory.items.count == values.count)
    return memory
  }

  private static func plug(_ family: SimulatedFamily, _ memory: SimulatedMemory, to bus: SimulatedBus) throws
  {
    switch family.make(memory) {
    case .usb(let meter): try bus.plug(SimulatedDevice(meter))
    case .line(let line):
      let models = try #require(DriverRegister.driver(family.driver)?.models)
      let model = try #require(models.first { if case .terminal = $0.link { true } else { false } })
      try bus.plug(line, vendorID: model.vendorID, productID: model.productID)
    }
  }
}
