// SPDX-License-Identifier: Apache-2.0

import Logbook

extension DeviceTime {
  /// FHIR has no larger offset, and none with seconds.
  private static let maxOffset: Int32 = 14 * 3600

  /// The shown time with its offset, as FHIR and RFC 3339 write both. A time with an offset that they cannot write is
  /// in UTC.
  func zonedText(_ placement: Placement) -> String {
    let offset = placement.utcOffset
    if offset % 60 == 0, abs(offset) <= Self.maxOffset { return text + Self.offsetText(offset) }
    return DeviceTime(seconds: seconds - Int64(offset)).text + "Z"
  }
}

extension Field {
  /// Gives a text to `body` as a field.
  static func with<Value>(_ text: String, _ body: (Field) -> Value) -> Value {
    var text = text
    return text.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return body(.absent) }
      return body(Field(start: start, count: bytes.count, shape: .quoted))
    }
  }
}
