// SPDX-License-Identifier: Apache-2.0

/// The device that took a reading. It is identified by vendor and serial number or, without one, by format
/// and model.
public struct Device: Hashable, Sendable {
  /// The maker, as the source or its format names it.
  public var vendor: String
  /// The model, as the source names it.
  public var model: String
  /// The serial number; empty if the source states none.
  public var serial: String
  /// The id of the format or driver that reported the device.
  public var format: String

  /// A device as its source describes it.
  public init(vendor: String, model: String, serial: String = "", format: String) {
    self.vendor = vendor
    self.model = model
    self.serial = serial
    self.format = format
  }

  /// The device of readings that a person types into glucoport. Each reading has a random number as its tick.
  /// So two readings that are typed in two copies of a store never have the same identity.
  package static let typed = Device(vendor: "", model: "typed", format: "typed")

  /// The range of the random ticks of typed readings. A tick is the number by which a source distinguishes
  /// its readings. Some sources use an instant in milliseconds as the tick. The ticks of typed readings are
  /// larger than every such instant, so that no two kinds of ticks can be confused.
  package static let typedTicks: Range<Int64> = 1 << 58..<1 << 59
}

/// The vendor, model and serial number of a device as one text for lists, without the empty parts.
package func deviceName(_ device: Device) -> String {
  [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
}

/// The index of a device in the `devices` of an `IngestBatch`.
@frozen public struct DeviceIndex: Hashable, Sendable {
  /// The position of the device in `devices`, from 0.
  public let number: Int32
  /// The index with this number.
  @inlinable public init(_ number: Int32) { self.number = number }
}
