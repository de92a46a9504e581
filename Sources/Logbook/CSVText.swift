// SPDX-License-Identifier: Apache-2.0

/// Appends `text` in UTF-8 as a cell of a CSV line (RFC 4180). The cell is quoted if it contains a character
/// at which a reader could end the cell.
package func appendCSVText(_ text: String, to out: inout [UInt8]) {
  guard needsQuotes(text) else { return out.append(contentsOf: text.utf8) }
  out.append(UInt8(ascii: "\""))
  for byte in text.utf8 {
    if byte == UInt8(ascii: "\"") { out.append(byte) }
    out.append(byte)
  }
  out.append(UInt8(ascii: "\""))
}

/// `text` as a cell of a CSV line, in quotes if necessary.
package func csvText(_ text: String) -> String {
  var out: [UInt8] = []
  appendCSVText(text, to: &out)
  return String(decoding: out, as: UTF8.self)
}

/// `cells` as a line of CSV that ends with a carriage return (RFC 4180). The caller adds the line feed.
package func csvLine(_ cells: [String]) -> String {
  cells.map(csvText).joined(separator: ",") + "\r"
}

private func needsQuotes(_ text: String) -> Bool {
  // Most cells are plain ASCII without commas and quotation marks. A comparison of bytes recognises such a
  // cell quickly.
  if text.utf8.allSatisfy({ $0 > 0x1F && $0 < 0x7F && $0 != 0x22 && $0 != 0x2C }) { return false }
  // Unicode scalars are compared, not characters: Swift sees a comma with a combining accent as one
  // character, but readers of CSV see a comma.
  return text.unicodeScalars.contains { $0 == "," || $0 == "\"" || isLineBreak($0) }
}

/// The line breaks of Unicode, at which some readers end a row.
private func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
  default: false
  }
}
