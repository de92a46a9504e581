// SPDX-License-Identifier: Apache-2.0

/// The HID reports of the family: a prefix of three bytes, a length, and at most sixty bytes of a stream that knows
/// nothing of reports.
enum ContourReport {
  /// How many bytes of the stream one report carries.
  static let maxPayload = 60

  /// One report with these bytes, which are few enough for it. The vendor's own software sends zeros as the prefix.
  static func pack(_ payload: [UInt8]) -> [UInt8] {
    [0, 0, 0, UInt8(truncatingIfNeeded: min(payload.count, maxPayload))] + payload.prefix(maxPayload)
  }

  /// The bytes of the stream in a report from the meter; nil where it is too short or claims too much.
  static func payload(_ report: [UInt8]) -> ArraySlice<UInt8>? {
    guard report.count >= 4, report.starts(with: Array("ABC".utf8)) else { return nil }
    let count = Int(report[3])
    guard count <= maxPayload, report.count >= 4 + count else { return nil }
    return report[4..<4 + count]
  }
}
