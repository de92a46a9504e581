// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The CP2110 bridge between HID reports and a serial line. The id of a report is the number of bytes in it.
package final class SimulatedCP2110 {
  /// The settings of the line; nil while it is off.
  package private(set) var line: LineSettings?

  /// The report descriptor: the reports of 1 to 63 bytes, and the feature reports that set the line.
  static let reportDescriptor: [UInt8] = {
    let data = (1...63).flatMap { id -> [UInt8] in
      [0x85, UInt8(id), 0x95, UInt8(id), 0x09, 0x01, 0x81, 0x02, 0x09, 0x01, 0x91, 0x02]
    }
    let features: [(id: UInt8, count: UInt8)] = [
      (0x40, 1), (0x41, 1), (0x42, 6), (0x43, 1), (0x46, 2), (0x50, 8),
    ]
    let settings = features.flatMap { [0x85, $0.id, 0x95, $0.count, 0x09, 0x01, 0xB1, 0x02] as [UInt8] }
    return [0x06, 0x00, 0xFF, 0x09, 0x01, 0xA1, 0x01, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08] + data
      + settings
      + [0xC0]
  }()

  private static let bauds: ClosedRange<UInt32> = 300...1_000_000
  private var settings = LineSettings(baud: 115_200)
  private var isOn = false
  private var incoming: [UInt8] = []
  /// The maximum number of bytes in one report.
  private let maxInReport: Int

  package init(maxInReport: Int = 63) { self.maxInReport = maxInReport }

  /// Answers requests for feature reports and for the report descriptor.
  package func control(_ request: ControlRequest, data: [UInt8]) -> ControlAnswer {
    let id = UInt8(request.value & 0xFF)
    switch (request.type, request.request, request.value >> 8) {
    case (0x81, 0x06, 0x22): return .data(Self.reportDescriptor)
    case (0x21, 0x09, 3): return set(id, data) ? .accepted : .stall
    case (0xA1, 0x01, 3): return feature(id).map { .data([id] + $0) } ?? .stall
    case (0x21, 0x0A, _): return .accepted
    default: return .stall
    }
  }

  /// The bytes that a report sends to the line; nil for another report.
  package func accept(_ report: [UInt8]) -> [UInt8]? {
    guard let count = report.first.map(Int.init), (1...63).contains(count), report.count > count else {
      return nil
    }
    return isOn ? Array(report[1...count]) : []
  }

  /// Queues bytes for the host.
  package func receive(_ bytes: [UInt8]) {
    if isOn { incoming += bytes }
  }

  /// The next report of 64 bytes.
  package func nextPacket() -> PacketAnswer {
    guard isOn, !incoming.isEmpty else { return .nothing }
    let bytes = incoming.takeFirst(maxInReport)
    return .data([UInt8(bytes.count)] + bytes + [UInt8](repeating: 0, count: 63 - bytes.count))
  }
}

extension SimulatedCP2110 {
  private func set(_ id: UInt8, _ data: [UInt8]) -> Bool {
    switch (id, data.count) {
    case (0x41, 2...):
      isOn = data[1] & 1 != 0
      if !isOn { incoming = [] }
    case (0x43, 2...): incoming = []
    case (0x50, 9...):
      let baud = data[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard Self.bauds.contains(baud), let parity = LineSettings.Parity(rawValue: data[5]), data[7] <= 3,
        data[8] <= 1
      else { return false }
      settings = LineSettings(
        baud: baud, parity: parity, dataBits: data[7] + 5, stopBits: data[8] + 1,
        hasHardwareFlowControl: data[6] == 1)
    default: return false
    }
    line = isOn ? settings : nil
    return true
  }

  private func feature(_ id: UInt8) -> [UInt8]? {
    switch id {
    case 0x41: [isOn ? 1 : 0]
    case 0x42: [0, 0] + [UInt8(incoming.count >> 8 & 0xFF), UInt8(incoming.count & 0xFF)] + [0, 0]
    case 0x46: [0x0A, 0x05]
    case 0x50:
      [24, 16, 8, 0].map { UInt8(settings.baud >> $0 & 0xFF) }
        + [
          settings.parity.rawValue, settings.hasHardwareFlowControl ? 1 : 0, settings.dataBits - 5,
          settings.stopBits - 1,
        ]
    default: nil
    }
  }
}
