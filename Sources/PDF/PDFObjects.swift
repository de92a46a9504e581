// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Builds a PDF file object by object, and keeps the offset of each object for the cross-reference table.
struct PDFObjects {
  private var bytes = Array("%PDF-1.7\n%\u{E2}\u{E3}\u{CF}\u{D3}\n".unicodeScalars.map { UInt8($0.value) })
  private var places: [Int] = []

  /// Returns a new number, for an object that is written later.
  mutating func reserve() -> Int {
    places.append(0)
    return places.count
  }

  /// Writes an object without a stream.
  mutating func write(_ number: Int, _ content: String) {
    begin(number)
    bytes += Array((content + "\nendobj\n").utf8)
  }

  /// Writes an object with a stream.
  ///
  /// - Parameter entries: the other entries of its dictionary besides length and compression.
  mutating func write(_ number: Int, stream: [UInt8], entries: String = "", isCompressed: Bool) {
    let packed = isCompressed ? Deflate.pack(stream) : nil
    let (content, filter) = packed.map { ($0, "/Filter/FlateDecode") } ?? (stream, "")
    begin(number)
    bytes += Array("<<\(entries)\(filter)/Length \(content.count)>>\nstream\n".utf8)
    bytes += content
    bytes += Array("\nendstream\nendobj\n".utf8)
  }

  /// Writes the cross-reference table, and returns the file. Its identifier is a digest of the content and
  /// not of the time, so that the same content has the same bytes.
  consuming func finish(root: Int, information: Int) -> [UInt8] {
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    let identifier = digest.hexadecimal().prefix(32)
    let start = bytes.count
    var table = "xref\n0 \(places.count + 1)\n0000000000 65535 f \n"
    for place in places {
      let digits = String(place)
      table += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
    }
    table +=
      "trailer\n<</Size \(places.count + 1)/Root \(root) 0 R/Info \(information) 0 R/ID[<\(identifier)><\(identifier)>]>>\n"
    return bytes + Array((table + "startxref\n\(start)\n%%EOF\n").utf8)
  }

  private mutating func begin(_ number: Int) {
    places[number - 1] = bytes.count
    bytes += Array("\(number) 0 obj\n".utf8)
  }

  /// A text as a PDF string: UTF-16 in hexadecimal digits.
  static func text(_ text: String) -> String {
    "<FEFF" + text.utf16.map { Self.hexadecimal(Int($0)) }.joined() + ">"
  }

  /// A number from 0 to 0xFFFF as four hexadecimal digits.
  static func hexadecimal(_ number: Int) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// The number as text with at most two decimals.
  static func number(_ number: Double) -> String {
    let hundredths = Int((number * 100).rounded())
    let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
    let sign = hundredths < 0 ? "-" : ""
    if rest == 0 { return "\(sign)\(whole)" }
    let tail = rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
    return "\(sign)\(whole == 0 ? "" : "\(whole)").\(tail)"
  }
}
