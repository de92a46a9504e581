// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook

/// The editor of the person at the terminal.
enum TextEditor {
  /// Lets the person edit a text in a private file, which is removed afterwards.
  ///
  /// - Parameter name: the end of the file's name, from which an editor determines the type.
  /// - Throws: `Failure`: `usage` without a terminal or an editor, `inputOutput` if the editor fails.
  static func edit(_ text: String, name: String) throws -> String {
    guard Host.isTerminal(STDIN_FILENO), Host.isTerminal(STDOUT_FILENO) else {
      throw Failure(.usage, "--edit needs a terminal; use --keep instead")
    }
    guard let editor = Host.environment("VISUAL") ?? Host.environment("EDITOR") else {
      throw Failure(.usage, "--edit needs an editor; set VISUAL or EDITOR, or use --keep")
    }
    let path = try write(text, name: name)
    defer { unlink(path) }
    // The variable may contain options. So a shell reads it, as in all programs that use these variables.
    let status = system("\(editor) '\(path.replacing("'", with: "'\\''"))'")
    guard status == 0 else {
      throw Failure(.inputOutput, "the editor '\(displayed(editor))' failed; the conflict is not resolved")
    }
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw Failure(.inputOutput, "\(path): cannot read the edited file; the conflict is not resolved")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Creates the file with mode 0600.
  private static func write(_ text: String, name: String) throws -> String {
    let folder = FileManager.default.temporaryDirectory.path
    var path = Array("\(folder)/glucoport-XXXXXX-\(name)".utf8CString)
    let descriptor = mkstemps(&path, Int32(name.utf8.count + 1))
    guard descriptor >= 0 else {
      throw Failure(
        .cannotCreate, "\(folder): cannot create the file to edit: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    let file = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      unlink(file)
      throw Failure(.inputOutput, "\(file): cannot write the file to edit; is the disk full?")
    }
    return file
  }
}
