// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes records with their two times: the shown time and the system time. The system time only increases,
/// even if the user of the receiver sets the shown time back.
struct DexcomWriter {
  /// 2009-01-01, from which both times are counted in seconds.
  static let epoch: Int64 = 1_230_768_000
  let offset: Int32
  private var newest = Int64.min
  private var count = 0

  init(offset: Int32) { self.offset = offset }

  /// The records for one item.
  mutating func record(
    of item: SimulatedItem, isNoisy: Bool
  ) -> (estimates: [[UInt8]], calibrations: [[UInt8]]) {
    let system = max(item.deviceTime.seconds - Self.epoch - Int64(offset), newest &+ 1)
    newest = system
    count += 1
    let times = both(system, item.deviceTime)
    if item.kind == .smbg {
      let value = UInt16(truncatingIfNeeded: item.milligrams ?? 0)
      return ([], [times + littleEndian(value) + littleEndian(UInt32(truncatingIfNeeded: system))])
    }
    let value: UInt16 =
      switch item.measurement {
      case .low: 39
      case .high: 401
      case .value: UInt16(truncatingIfNeeded: item.milligrams ?? 0)
      }
    var estimates = [times + littleEndian(value) + [0x14]]
    if isNoisy {
      // The receiver also stores a copy of the value that it only displayed. This copy has bit 15 set, and
      // often another value.
      estimates.append(times + littleEndian((value &+ 7) & 0x3FF | 0x8000) + [0x94])
      if count % 3 == 0 { estimates.append(both(system, item.deviceTime) + littleEndian(UInt16(5)) + [0x08]) }
    }
    return (estimates, [])
  }

  func event(_ event: SimulatedDexcomG4.Event) -> [UInt8] {
    both(event.deviceTime.seconds - Self.epoch - Int64(offset), event.deviceTime) + [
      event.type, event.subtype,
    ]
      + littleEndian(UInt32(truncatingIfNeeded: event.happened.seconds - Self.epoch))
      + littleEndian(event.value)
  }

  func manufacturing(_ serial: String, at time: DeviceTime) -> [UInt8] {
    let text =
      "<ManufacturingParameters SerialNumber=\"\(serial)\" HardwarePartNumber=\"MD1060-MT20649\" "
      + "HardwareRevision=\"14\" DateTimeCreated=\"2013-01-01 00:00:00\" HardwareId=\"{0}\" />"
    let bytes = Array(text.utf8.prefix(490))
    return both(time.seconds - Self.epoch - Int64(offset), time) + bytes
      + [UInt8](repeating: 0, count: 490 - bytes.count)
  }

  private func both(_ system: Int64, _ shown: DeviceTime) -> [UInt8] {
    littleEndian(UInt32(truncatingIfNeeded: system))
      + littleEndian(UInt32(truncatingIfNeeded: shown.seconds - Self.epoch))
  }
}
