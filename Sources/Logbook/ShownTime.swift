// SPDX-License-Identifier: Apache-2.0

/// A time as a source shows it, with the offset where it states one.
@frozen package struct ShownTime: Hashable, Sendable {
  /// The time of the day and the date.
  package var deviceTime: DeviceTime
  /// Seconds east of Greenwich; nil for a bare wall-clock time.
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
