// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The texts to which cells of an XLSX file refer by number. They are in memory, so their size is limited.
final class SharedStrings: XMLPart {
  /// The maximum number of texts, enough for a sheet of a million rows with sixteen different texts each.
  static let maxCount = 16 << 20
  /// The maximum number of bytes of all texts with their lengths. A million rows with a different time of day
  /// each need a third of it.
  static let maxTotalBytes = 64 << 20
  /// Every 16th text has a stored offset. A text between two of them is found by reading the lengths from the
  /// stored offset on.
  private static let spacing = 16
  private static let lengthSize = 4

  private(set) var count = 0
  /// The texts, each after its length.
  private var bytes: [UInt8] = []
  private var places: [Int] = []
  private var phoneticDepth = 0
  private var isInItem = false

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    if name.isLocally("si") {
      capture()
      endCapture()
      isInItem = true
    } else if name.isLocally("rPh") {
      phoneticDepth += 1
    } else if name.isLocally("t"), isInItem, phoneticDepth == 0 {
      captureMore()
    }
  }

  override func end(_ name: XMLName) {
    if name.isLocally("t") {
      endCapture()
    } else if name.isLocally("rPh") {
      phoneticDepth -= 1
    } else if name.isLocally("si") {
      isInItem = false
      addCaptured()
    }
  }

  private func addCaptured() {
    guard count < Self.maxCount, bytes.count + Self.lengthSize + captured.count <= Self.maxTotalBytes else {
      return fail(
        "the shared texts are more than \(Self.maxCount), or longer than \(Self.maxTotalBytes >> 20) MiB; save the sheet as CSV"
      )
    }
    if count % Self.spacing == 0 { places.append(bytes.count) }
    count += 1
    var cell = captured
    EscapedText.unescape(&cell)
    for shift in 0..<Self.lengthSize { bytes.append(UInt8(truncatingIfNeeded: cell.count >> (8 * shift))) }
    bytes.append(contentsOf: cell)
  }

  /// Calls the body with a text.
  ///
  /// - Returns: false if there is no text with this number.
  func withText(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws -> Bool {
    guard number >= 0, number < count else { return false }
    var place = places[number / Self.spacing]
    for _ in 0..<(number % Self.spacing) { place += Self.lengthSize + length(at: place) }
    let start = place + Self.lengthSize
    try bytes.withUnsafeBufferPointer {
      try body(UnsafeBufferPointer(rebasing: $0[start..<(start + length(at: place))]))
    }
    return true
  }

  private func length(at place: Int) -> Int { Int(bytes.number(place, Self.lengthSize)) }
}

/// Replaces the escapes with which XLSX writes characters that are invalid in XML, such as `_x000D_`.
enum EscapedText {
  static func unescape(_ text: inout [UInt8]) {
    guard text.contains(UInt8(ascii: "_")), text.firstRange(of: Array("_x".utf8)) != nil else { return }
    var (from, to) = (0, 0)
    while from < text.count {
      if let scalar = scalar(text, at: from) {
        // A zero byte is dropped.
        for byte in scalar == "\0" ? [] : Array(UTF8.encode(scalar) ?? .init()) {
          text[to] = byte
          to += 1
        }
        from += 7
      } else {
        text[to] = text[from]
        from += 1
        to += 1
      }
    }
    text.removeSubrange(to...)
  }

  private static func scalar(_ text: [UInt8], at place: Int) -> Unicode.Scalar? {
    guard text.count - place >= 7, text[place] == UInt8(ascii: "_"), text[place + 1] == UInt8(ascii: "x"),
      text[place + 6] == UInt8(ascii: "_"),
      let code = UInt32(String(decoding: text[(place + 2)..<(place + 6)], as: UTF8.self), radix: 16)
    else { return nil }
    return Unicode.Scalar(code)
  }
}
