// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Logbook

/// A file or folder in the file system.
package struct FileFact: Hashable, Sendable {
  package enum FileKind: Sendable { case file, folder, link, other }

  package var path: String
  package var kind: FileKind
  /// The user id of the file's owner.
  package var owner: UInt32
  /// The permission bits of the file.
  package var mode: UInt32
  /// The size of the file in bytes.
  package var size: Int64

  /// A file with its permissions.
  package init(path: String, kind: FileKind = .file, owner: UInt32, mode: UInt32, size: Int64 = 0) {
    self.path = path
    self.kind = kind
    self.owner = owner
    self.mode = mode
    self.size = size
  }

  /// The file at a path; nil if there is no such file, or it cannot be accessed.
  ///
  /// - Parameter followsLink: whether to follow a link to its target.
  package static func at(_ path: String, followsLink: Bool = false) -> FileFact? {
    var status = stat()
    let name = PathText.bytes(path)
    guard (followsLink ? stat(name, &status) : lstat(name, &status)) == 0 else { return nil }
    let kind: FileKind =
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

/// Reads small files and folders of the system, such as crontabs. If a file cannot be read, the result is
/// nil. If a folder cannot be read, it counts as empty.
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
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
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

package struct FileSystemFact: Hashable, Sendable {
  /// The kind of file system, which determines whether a store can be used on it.
  package enum FileSystemKind: Hashable, Sendable {
    /// A file system on a disk of this computer, or in its memory.
    case local
    /// A network file system with this name. Other computers may use it, so SQLite cannot rely on its locks.
    case network(String)
    /// A FUSE file system, which a program provides. The files can be on a local disk or on another computer.
    case userSpace
  }

  package var kind: FileSystemKind
  /// The free space in bytes.
  package var freeBytes: Int64
  /// Whether the file system is read-only.
  package var isReadOnly: Bool

  /// A file system with this free space.
  package init(kind: FileSystemKind, freeBytes: Int64, isReadOnly: Bool = false) {
    self.kind = kind
    self.freeBytes = freeBytes
    self.isReadOnly = isReadOnly
  }

  /// The file system of a file or folder; nil if the system does not report it.
  package static func of(_ path: String) -> FileSystemFact? {
    var status = statfs()
    guard statfs(PathText.bytes(path), &status) == 0 else { return nil }
    let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(max(0, Int(status.f_bsize))))
    // The lowest bit of the flags is ST_RDONLY of statvfs(3). The kernel also sets it in statfs(2).
    return FileSystemFact(
      kind: kind(ofMagic: UInt32(truncatingIfNeeded: Int(status.f_type))),
      freeBytes: bytes.overflow ? .max : Int64(clamping: bytes.partialValue),
      isReadOnly: Int(status.f_flags) & 1 != 0)
  }

  /// The kind of file system for a magic number of statfs(2). The numbers are from linux/magic.h and the
  /// manual page.
  static func kind(ofMagic magic: UInt32) -> FileSystemKind {
    let networks: [UInt32: String] = [
      0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x0102_1997: "9P",
      0x5346_414F: "AFS", 0x00C3_6400: "Ceph", 0x7375_7245: "Coda", 0x564C: "NCP", 0x0161_1970: "GFS2",
      0x7461_636F: "OCFS2",
    ]
    if let name = networks[magic] { return .network(name) }
    return magic == 0x6573_5546 ? .userSpace : .local
  }
}

/// The kernel's state of its clock.
package enum ClockSynchronisation {
  /// Whether a time service adjusts the clock; nil if the kernel does not report it.
  package static var isKept: Bool? {
    var state = timex()
    let answer = adjtimex(&state)
    return answer < 0 ? nil : answer != TIME_ERROR && state.status & STA_UNSYNC == 0
  }
}
