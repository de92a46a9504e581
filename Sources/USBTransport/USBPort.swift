// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An open device for the links: a real one on the bus, or a simulated one.
package protocol USBPort: AnyObject {
  /// The interfaces of the active configuration, in their first alternate setting.
  var interfaces: [USBInterface] { get }

  /// Claims an interface for this process, and detaches the kernel's driver if one holds it.
  func claim(_ interface: UInt8) throws(Failure)
  /// A control request that reads at most `maxBytes`.
  func controlIn(_ request: ControlRequest, maxBytes: Int, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// A control request that writes, or has no data.
  func controlOut(_ request: ControlRequest, _ data: [UInt8], within milliseconds: Int) throws(TransportError)
  /// One complete transfer to a bulk or interrupt endpoint.
  func write(_ bytes: [UInt8], to endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
  /// One transfer of at most `maxBytes`; for an endpoint after `keepReading`, the next packet received.
  func read(_ maxBytes: Int, from endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// Keeps reads pending at an endpoint, so that nothing is lost that a device sends unasked.
  func keepReading(_ endpoint: USBEndpoint) throws(TransportError)
  /// Clears the halt of an endpoint that stalled.
  func clearHalt(_ endpoint: USBEndpoint) throws(TransportError)
  /// Releases the interfaces, and reattaches the kernel's drivers.
  func close() throws(Failure)
}
