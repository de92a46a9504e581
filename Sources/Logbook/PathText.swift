// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Converts names of files to text without losing a byte.
///
/// On Linux a file name can have any bytes, while a text is Unicode. A byte that is not UTF-8 becomes a
/// character of a private area: U+10FF00 plus the byte. If a name contains such characters itself, their
/// bytes are converted in the same way. Use `bytes` for system calls and `shown` for people.
package enum PathText {
  private static let escapes: ClosedRange<UInt32> = 0x10FF00...0x10FFFF

  /// The text of a file name from a system call.
  package static func text(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self), !isEscaped(text) { return text }
    var text = String.UnicodeScalarView()
    func escape(_ byte: UInt8) {
      if let scalar = Unicode.Scalar(escapes.lowerBound + UInt32(byte)) { text.append(scalar) }
    }
    var parser = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var position = 0
    while true {
      switch parser.parseScalar(from: &rest) {
      case .valid(let code):
        let scalar = Unicode.UTF8.decode(code)
        if escapes.contains(scalar.value) { code.forEach(escape) } else { text.append(scalar) }
        position += code.count
      case .error(let length):
        bytes[position..<position + length].forEach(escape)
        position += length
      case .emptyInput: return String(text)
      }
    }
  }

  /// The path of the folder that contains a file: the part before the last slash.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The text of a file name from a system call, given as a C string.
  package static func text(_ name: UnsafePointer<CChar>) -> String {
    var bytes: [UInt8] = []
    var next = name
    while next.pointee != 0 {
      bytes.append(UInt8(bitPattern: next.pointee))
      next += 1
    }
    return text(bytes)
  }

  /// Whether the text contains bytes of a name that is not UTF-8.
  package static func isEscaped(_ text: String) -> Bool {
    // In UTF-8, every character of the last private area begins with this byte, which few texts contain.
    text.utf8.contains(0xF4) && text.unicodeScalars.contains { escapes.contains($0.value) }
  }

  /// The file name for system calls, with a zero byte at its end.
  package static func bytes(_ text: String) -> [CChar] {
    guard isEscaped(text) else { return Array(text.utf8CString) }
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if let byte = byte(scalar) { bytes.append(byte) } else { bytes += UTF8.encode(scalar) ?? .init() }
    }
    return (bytes + [0]).map { CChar(bitPattern: $0) }
  }

  /// The file name for people and for text files. Each byte that is not UTF-8 is written in hexadecimal, such
  /// as `\xE4`.
  package static func shown(_ text: String) -> String {
    guard isEscaped(text) else { return text }
    return text.unicodeScalars.map { scalar in
      guard let byte = byte(scalar) else { return String(scalar) }
      return (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// The absolute path of the file to which a path leads, with all links resolved; nil if there is no such
  /// file.
  package static func real(_ path: String) -> String? {
    guard let file = realpath(bytes(path), nil) else { return nil }
    defer { free(file) }
    return text(file)
  }

  private static func byte(_ scalar: Unicode.Scalar) -> UInt8? {
    escapes.contains(scalar.value) ? UInt8(scalar.value - escapes.lowerBound) : nil
  }
}

extension String {
  /// The text as one word of a POSIX shell, in quotes only if it needs them.
  package var shellWord: String {
    let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@"
    if !isEmpty, unicodeScalars.allSatisfy({ plain.unicodeScalars.contains($0) || $0.value >= 0xC0 }) {
      return self
    }
    return shellQuoted
  }

  /// The text as one word of a POSIX shell, in quotes.
  package var shellQuoted: String { "'" + replacing("'", with: #"'\''"#) + "'" }
}
