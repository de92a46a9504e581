// SPDX-License-Identifier: Apache-2.0

/// A time as a source shows it, with the offset where it states one.
@frozen public struct ShownTime: Hashable, Sendable {
  /// The time of the day and the date.
  public var deviceTime: DeviceTime
  /// Seconds east of Greenwich; nil for a bare wall-clock time.
  public var utcOffset: Int32?

  /// A time as it is shown.
  @inlinable public init(_ deviceTime: DeviceTime, utcOffset: Int32? = nil) {
    self.deviceTime = deviceTime
    self.utcOffset = utcOffset
  }

  /// An instant in UTC seconds, shown with this offset.
  @inlinable public init(utc seconds: Int64, offset: Int32) {
    deviceTime = DeviceTime(seconds: seconds + Int64(offset))
    utcOffset = offset
  }
}
