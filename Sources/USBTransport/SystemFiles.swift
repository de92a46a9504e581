// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The small files in which the kernel describes devices. A missing file counts as empty, like that of a device without
/// a name.
enum SystemFiles {
  private static let maxBytes = 65536

  static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while text.count < maxBytes {
      let count = read(descriptor, &piece, piece.count)
      guard count > 0 else { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The file without its line break.
  static func line(_ path: String) -> String {
    String(text(path).prefix { !$0.isNewline })
  }

  static func names(_ folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// The last component of a link's target; nil if there is no link.
  static func linkName(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: 1024)
    let count = target.withUnsafeMutableBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return -1 }
      return readlink(path, start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0 else { return nil }
    return String(decoding: target[..<count], as: UTF8.self).split(separator: "/").last.map(String.init)
  }

  /// Whether this process may open the file for reading and writing.
  static func mayReadAndWrite(_ path: String) -> Bool { access(path, R_OK | W_OK) == 0 }
}
