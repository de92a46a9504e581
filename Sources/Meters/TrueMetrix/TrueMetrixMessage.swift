// SPDX-License-Identifier: Apache-2.0

/// A message of the TRUE METRIX: `(content)CC`. CC is the low byte of the sum of all characters up to the closing
/// bracket, inclusive, in two upper-case hexadecimal digits.
enum TrueMetrixMessage: Hashable {
  /// The text between the brackets.
  case content(String)
  /// A message with a wrong sum or without an end.
  case broken

  /// Above the longest content: setting the clock has 15 characters between the brackets.
  private static let maxContent = 64

  /// A message with this content, as sent to the meter.
  static func bytes(_ content: String) -> [UInt8] {
    let text = Array("(\(content))".utf8)
    return text + sum(text)
  }

  /// The first complete message, which is removed with the bytes before it; nil if there is none.
  static func next(in bytes: inout [UInt8]) -> TrueMetrixMessage? {
    bytes.removeFirst(bytes.firstIndex(of: 0x28) ?? bytes.count)
    guard let end = bytes.firstIndex(of: 0x29) else {
      guard bytes.count > maxContent else { return nil }
      bytes.removeFirst()
      return .broken
    }
    guard end + 2 < bytes.count else { return nil }
    let text = Array(bytes[...end])
    let stated = Array(bytes[end + 1...end + 2])
    let isWhole = end <= maxContent && stated == sum(text)
    bytes.removeFirst(isWhole ? end + 3 : 1)
    return isWhole ? .content(String(decoding: text.dropFirst().dropLast(), as: UTF8.self)) : .broken
  }

  private static func sum(_ text: [UInt8]) -> [UInt8] {
    let sum = text.reduce(UInt8(0), &+)
    return Array(((sum < 16 ? "0" : "") + String(sum, radix: 16, uppercase: true)).utf8)
  }
}
