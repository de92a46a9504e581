// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Meters
import SimulatedMeters
import SimulatedUSB

/// The simulated meters in the virtual machine of `Tests/usb-guest.sh`. Their clocks are correct, and their
/// readings are the same in each run.
enum GuestMeter {
  private static let values: [Double] = [95, 254, 61, 187]

  /// A memory of readings one hour apart. A larger `count` adds later readings.
  static func memory(_ family: SimulatedFamily, count: Int = 4) -> SimulatedMemory {
    var memory = SimulatedMemory(clock: DeviceTime(seconds: Int64(Date().timeIntervalSince1970)))
    // If meters of one maker had the same serial number, a store would treat them as one device.
    let index = SimulatedRegister.plugged.firstIndex { $0.driver == family.driver } ?? 0
    memory.serial = "SIM-\(1_234_567 + index)"
    let first = DeviceTime(year: 2026, month: 5, day: 4, hour: 7)
    memory.items = (0..<count).compactMap { index in
      first.map { first in
        SimulatedItem(
          family.driver == "dexcom-g4" ? .cbg : .smbg,
          at: DeviceTime(seconds: first.seconds + Int64(index) * 3600),
          .value(Quantity(values[index % values.count], .milligramsPerDecilitre)))
      }
    }.filter(family.holds)
    return memory
  }

  /// Returns a function that makes the device; nil for a meter on a serial line whose chip is not simulated.
  static func device(
    _ family: SimulatedFamily, _ memory: SimulatedMemory
  ) -> (@Sendable () -> SimulatedDevice)? {
    guard case .line = family.make(memory) else {
      return {
        guard case .usb(let meter) = family.make(memory) else { preconditionFailure("it was one before") }
        return SimulatedDevice(meter)
      }
    }
    let models = DriverRegister.driver(family.driver)?.models ?? []
    guard let model = models.first(where: { $0.vendorID == 0x10C4 }) else { return nil }
    return {
      guard case .line(let line) = family.make(memory) else { preconditionFailure("it was one before") }
      return SimulatedDevice(CP210xChip(line, vendorID: model.vendorID, productID: model.productID))
    }
  }
}
