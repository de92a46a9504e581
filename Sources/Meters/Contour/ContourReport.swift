// SPDX-License-Identifier: Apache-2.0

/// HID reports of the Contour: a prefix of three bytes, a length, and at most 60 bytes of a stream. Units of the stream
/// are independent of reports.
enum ContourReport {
  /// The number of bytes that one report carries.
  static let maxPayload = 60

  /// One report with these bytes, at most `maxPayload`. The prefix is zeros, as in the vendor's software.
  static func pack(_ payload: [UInt8]) -> [UInt8] {
    [0, 0, 0, UInt8(truncatingIfNeeded: min(payload.count, maxPayload))] + payload.prefix(maxPayload)
  }

  /// The payload of a report from the meter; nil if the report is shorter than it states.
  static func payload(_ report: [UInt8]) -> ArraySlice<UInt8>? {
    guard report.count >= 4, report.starts(with: Array("ABC".utf8)) else { return nil }
    let count = Int(report[3])
    guard count <= maxPayload, report.count >= 4 + count else { return nil }
    return report[4..<4 + count]
  }
}
