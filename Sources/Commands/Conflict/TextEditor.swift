// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import TemporaryFiles

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
    let status = system("\(editor) \(path.shellQuoted)")
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
    let file = try NamedFile(
      "\(folder)/glucoport-", end: "-\(name)", orFailWith: "\(folder): cannot create the file to edit")
    defer { close(file.descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(file.descriptor, bytes, bytes.count) == bytes.count else {
      unlink(PathText.bytes(file.path))
      throw Failure(.inputOutput, "\(file.path): cannot write the file to edit; is the disk full?")
    }
    return file.path
  }
}
