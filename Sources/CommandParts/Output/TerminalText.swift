// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// Makes text from files, devices, arguments and servers safe for a terminal. It removes control characters,
/// and the characters that reverse text, with which one name can look like another.
package enum TerminalText {
  /// Text that becomes a part of one line. Tabs and characters that end a line become blanks.
  package static func line(_ text: String) -> String {
    escaped(PathText.shown(text), blanks: [0x09, 0x0A, 0x0D])
  }

  /// Text of one or more lines for standard error. Its line ends and tabs are kept.
  static func lines(_ text: String) -> String { escaped(PathText.shown(text), kept: [0x09, 0x0A]) }

  /// JSON with the same meaning, but without the characters that `line` removes. JSON has them only in
  /// strings, where each can be written as a number. Characters below the blank are already written in this
  /// way.
  package static func json(_ text: String) -> String {
    if text.utf8.withContiguousStorageIfAvailable(mayHoldControl) == false { return text }
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.value >= 0x20, isControl(scalar) {
        let digits = String(scalar.value, radix: 16)
        shown.append(
          contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }

  /// JSON as bytes, made safe like JSON as text. Bytes that are not valid UTF-8 are returned unchanged.
  package static func json(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.withUnsafeBufferPointer(mayHoldControl), let text = String(validating: bytes, as: UTF8.self)
    else {
      return bytes
    }
    return Array(json(text).utf8)
  }

  private static func escaped(_ text: String, kept: Set<UInt32> = [], blanks: Set<UInt32> = []) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if blanks.contains(scalar.value) {
        shown.append(" ")
      } else if isControl(scalar), !kept.contains(scalar.value) {
        shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether at least one of the bytes can begin a character above U+0020 that must be removed. Few texts
  /// contain such a byte.
  private static func mayHoldControl(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    // Compares eight bytes at a time, up to the first one from 0x7F on. A loop over single bytes would be
    // slow for an export, which has hundreds of bytes a line.
    let words = UnsafeRawBufferPointer(bytes)
    var start = 0
    while start + 8 <= words.count {
      let word = words.loadUnaligned(fromByteOffset: start, as: UInt64.self)
      if ((word &+ 0x0101_0101_0101_0101) | word) & 0x8080_8080_8080_8080 != 0 { break }
      start += 8
    }
    return bytes[start...].contains { $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }
  }
}

/// Makes a text from a file or a device safe to show as a part of one line.
package func displayed(_ text: String) -> String { TerminalText.line(text) }

/// A line on standard error that shows the progress of long work. It is shown only on a terminal.
package final class ProgressMeter {
  private let output: Output
  private let isShown: Bool
  private var hasWritten = false

  /// A meter that shows its line only on a terminal, and never with `isQuiet`.
  package init(_ output: Output, isQuiet: Bool) {
    self.output = output
    isShown = !isQuiet && Host.isTerminal(STDERR_FILENO)
  }

  /// Shows a text in place of the last one.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    hasWritten = true
    output.progress(text())
  }

  /// Removes the shown line from the terminal.
  package func clear() {
    if hasWritten { output.progress("") }
  }
}

/// Joins words from which a person can choose: `a, b or c`.
package func alternatives(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return "\(words.dropLast().joined(separator: ", ")) or \(last)"
}

/// An instant in UTC seconds as text: `2026-05-06T18:30:00Z`.
package func instant(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

/// A command in the text of a message, in quotation marks. The quotation marks are left out if a word of the
/// command needs quotation marks for the shell.
package func quotedCommand(_ words: String...) -> String {
  let command = words.map(\.shellWord).joined(separator: " ")
  return command.contains("'") ? command : "'\(command)'"
}
