// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import SimulatedMeters
import USBTransport

/// Uses the program's own links with a simulated device, in this process and without waiting.
package final class SimulatedHost: Transport {
  /// The number of exchanges.
  package private(set) var exchanges = 0

  private let maxExchanges: Int
  private let transport: any OpenTransport
  private let counts: () -> FaultySession

  /// - Parameter maxExchanges: the limit of exchanges, after which they fail. A driver that continues
  ///   nevertheless ends the test run by a trap, since it might never end.
  package init(
    _ meter: any SimulatedMeter, _ link: MeterLink, fault: Fault? = nil, maxExchanges: Int = 100_000
  ) throws {
    let device = SimulatedDevice(meter, fault: fault)
    self.maxExchanges = maxExchanges
    transport = try LinkTransport.open(link, over: SimulatedPort(device))
    counts = { device.session }
  }

  /// A host of a meter on a serial line.
  package init(
    _ line: any SimulatedLine, _ settings: LineSettings, fault: Fault? = nil, maxExchanges: Int = 100_000
  ) {
    let end = SimulatedLineEnd(line, settings, fault: fault)
    self.maxExchanges = maxExchanges
    transport = end
    counts = { end.session }
  }

  /// A host of a meter with Bluetooth.
  package init(_ meter: SimulatedGlucoseMeter, fault: Fault? = nil, maxExchanges: Int = 100_000) {
    let link = SimulatedRadioLink(meter, fault: fault)
    self.maxExchanges = maxExchanges
    transport = link
    counts = { link.session }
  }

  /// Whether the driver exceeded the limit of exchanges.
  package var isOverrun: Bool { exchanges > maxExchanges }
  /// The number of packets from the meter.
  package var received: Int { counts().received }
  /// The number of packets in both directions.
  package var steps: Int { counts().steps }

  package func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8]
  {
    exchanges += 1
    precondition(exchanges <= 2 * maxExchanges + 1000, "the driver does not stop")
    guard !isOverrun else { throw .failed("more than \(maxExchanges) exchanges") }
    return try transport.perform(exchange, within: milliseconds)
  }

  package func close() throws { try transport.close() }
}
