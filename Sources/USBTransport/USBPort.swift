// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// An open device, as the links need it: the bus behind it, or a simulated device.
package protocol USBPort: AnyObject {
  /// The interfaces of the active configuration, in their first setting.
  var interfaces: [USBInterface] { get }

  /// Takes an interface for this process, off the kernel's driver if one holds it.
  func claim(_ interface: UInt8) throws(Failure)
  /// A control request that reads at most so many bytes.
  func controlIn(_ request: ControlRequest, maxBytes: Int, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// A control request that writes, or has no data.
  func controlOut(_ request: ControlRequest, _ data: [UInt8], within milliseconds: Int) throws(TransportError)
  /// One transfer to a bulk or interrupt endpoint, all of it.
  func write(_ bytes: [UInt8], to endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
  /// One transfer of at most so many bytes; of an endpoint that is kept reading, the next packet that came.
  func read(_ maxBytes: Int, from endpoint: USBEndpoint, within milliseconds: Int) throws(TransportError)
    -> [UInt8]
  /// Keeps reads waiting at an endpoint from here on, so that nothing is lost that a device sends unasked.
  func keepReading(_ endpoint: USBEndpoint) throws(TransportError)
  /// Takes the halt off an endpoint that stalled.
  func clearHalt(_ endpoint: USBEndpoint) throws(TransportError)
  /// Releases the interfaces, and attaches the kernel's drivers again.
  func close() throws(Failure)
}
