// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One item in a simulated meter, in terms that every family shares.
package struct SimulatedItem: Hashable, Sendable {
  package var kind = ReadingKind.smbg
  package var deviceTime: DeviceTime
  /// The value as the meter stores it: mg/dL for glucose, mmol/L for ketones, and LO and HI if the meter
  /// shows them.
  package var measurement: Measurement
  package var marks: ReadingMarks = []

  package init(
    _ kind: ReadingKind = .smbg, at time: DeviceTime, _ measurement: Measurement, marks: ReadingMarks = []
  ) {
    self.kind = kind
    self.deviceTime = time
    self.measurement = measurement
    self.marks = marks
  }
}

/// The content of a simulated meter.
package struct SimulatedMemory: Sendable {
  package var serial = "SIM-1234567"
  package var firmware = "1.23"
  package var clock: DeviceTime
  /// The unit that the meter shows. Meters that always send mg/dL ignore it.
  package var unit = GlucoseUnit.milligramsPerDecilitre
  /// The items, oldest first.
  package var items: [SimulatedItem] = []

  package init(clock: DeviceTime) { self.clock = clock }
}

/// A simulated device's answer to a control request that its descriptors do not answer.
package enum ControlAnswer: Sendable {
  case data([UInt8])
  case accepted
  case stall
}

/// A simulated device's answer when an IN endpoint is read.
package enum PacketAnswer: Sendable {
  case data([UInt8])
  /// The endpoint has no data yet, so the host waits.
  case nothing
  case stall
}

/// A meter on the USB bus: its descriptors, and the transfers of its endpoints. A simulation is written from
/// facts about the real meter and not from the driver, so that both are unlikely to have the same error.
package protocol SimulatedMeter: AnyObject {
  /// The device descriptor, which has 18 bytes.
  var deviceDescriptor: [UInt8] { get }
  /// The configuration descriptor, with those of its interfaces and endpoints.
  var configurationDescriptor: [UInt8] { get }
  /// String descriptors by index, from 1.
  var strings: [String] { get }

  /// Answers a control request of class or vendor type. Standard requests are answered from the descriptors.
  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer
  /// Receives one packet at an OUT endpoint. Returns false to stall the endpoint.
  func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool
  /// Sends one transfer of at most this many bytes from an IN endpoint.
  func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer
}

/// A meter on a serial line for which the kernel provides a terminal.
package protocol SimulatedLine: AnyObject {
  /// Takes bytes at the current settings of the line, and returns the answer.
  func accept(_ bytes: [UInt8], line: LineSettings) -> [UInt8]
}
