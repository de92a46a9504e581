// SPDX-License-Identifier: Apache-2.0

/// A time as a source shows it, with the offset if it states one.
@frozen package struct ShownTime: Hashable, Sendable {
  /// The date and the time of day.
  package var deviceTime: DeviceTime
  /// Seconds east of Greenwich; nil for a wall-clock time without an offset.
  package var utcOffset: Int32?

  /// A time as it is shown.
  @inlinable package init(_ deviceTime: DeviceTime, utcOffset: Int32? = nil) {
    self.deviceTime = deviceTime
    self.utcOffset = utcOffset
  }

  /// An instant in UTC seconds, shown with this offset.
  @inlinable package init(utc seconds: Int64, offset: Int32) {
    deviceTime = DeviceTime(seconds: seconds + Int64(offset))
    utcOffset = offset
  }
}
