// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One thing that a simulated meter holds, in words that every family shares.
package struct SimulatedItem: Hashable, Sendable {
  package var kind = ReadingKind.smbg
  package var deviceTime: DeviceTime
  /// As the meter keeps it: mg/dL for glucose, or mmol/L for ketones; LO and HI where it shows them.
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

/// What a simulated meter is made of.
package struct SimulatedMemory: Sendable {
  package var serial = "SIM-1234567"
  package var firmware = "1.23"
  package var clock: DeviceTime
  /// The unit that the meter shows; those that always send mg/dL ignore it.
  package var unit = GlucoseUnit.milligramsPerDecilitre
  /// Oldest first.
  package var items: [SimulatedItem] = []

  package init(clock: DeviceTime) { self.clock = clock }
}

/// What a simulated device does with a control request that is not answered from its descriptors.
package enum ControlAnswer: Sendable {
  case data([UInt8])
  case accepted
  case stall
}

/// What a simulated device gives when an IN endpoint is read.
package enum PacketAnswer: Sendable {
  case data([UInt8])
  /// Not ready: the host waits.
  case nothing
  case stall
}

/// A meter as the USB bus sees it: descriptors, and what goes over its endpoints. Written from the facts about the
/// meter alone, so that a driver and its simulation are unlikely to share a mistake.
package protocol SimulatedMeter: AnyObject {
  /// 18 bytes.
  var deviceDescriptor: [UInt8] { get }
  /// The configuration with all that belongs to it.
  var configurationDescriptor: [UInt8] { get }
  /// String descriptors by index, from 1.
  var strings: [String] { get }

  /// A control request of class or vendor type; the standard ones are answered from the descriptors.
  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer
  /// One packet to an OUT endpoint; false stalls it.
  func take(_ packet: [UInt8], endpoint: UInt8) -> Bool
  /// One transfer from an IN endpoint, of at most this many bytes.
  func give(endpoint: UInt8, maxBytes: Int) -> PacketAnswer
}

/// A meter behind a serial line that the kernel shows as a terminal.
package protocol SimulatedLine: AnyObject {
  /// Takes bytes, at the speed that the line is set to, and gives the answer to them.
  func take(_ bytes: [UInt8], line: LineSettings) -> [UInt8]
}
