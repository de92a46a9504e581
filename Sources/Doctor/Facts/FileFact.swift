// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file or folder in the file system.
package struct FileFact: Hashable, Sendable {
  package enum Kind: Sendable { case file, folder, link, other }

  package var path: String
  package var kind: Kind
  /// The user id of its owner.
  package var owner: UInt32
  /// Its permission bits.
  package var mode: UInt32
  /// Its size in bytes.
  package var size: Int64

  /// A file with its permissions.
  package init(path: String, kind: Kind = .file, owner: UInt32, mode: UInt32, size: Int64 = 0) {
    self.path = path
    self.kind = kind
    self.owner = owner
    self.mode = mode
    self.size = size
  }

  /// The file at a path; nil if there is none, or it cannot be accessed.
  ///
  /// - Parameter followsLink: whether to follow a link to its target.
  package static func at(_ path: String, followsLink: Bool = false) -> FileFact? {
    var status = stat()
    let name = PathText.bytes(path)
    guard (followsLink ? stat(name, &status) : lstat(name, &status)) == 0 else { return nil }
    let kind: Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    return FileFact(
      path: path, kind: kind, owner: status.st_uid, mode: status.st_mode & 0o7777, size: Int64(status.st_size)
    )
  }

  /// The permission bits in the notation of `chmod`.
  var octal: String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

/// Small files and the names in folders with which the system describes itself. Missing ones are empty.
enum SystemText {
  private static let maxBytes = 1 << 20

  /// The text of a file; nil if it cannot be read.
  static func of(_ path: String) -> String? {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16384)
    while bytes.count < maxBytes {
      let count = read(descriptor, &piece, piece.count)
      guard count >= 0 else { return nil }
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names in a folder, sorted.
  static func names(_ folder: String) -> [String] {
    guard let directory = opendir(PathText.bytes(folder)) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { PathText.text(Array($0.prefix { $0 != 0 })) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}
