// SPDX-License-Identifier: Apache-2.0

import CLinux
import Logbook

/// The file system of a file.
package struct FileSystemFact: Hashable, Sendable {
  /// The kind of file system, which shows whether a store works on it.
  package enum Kind: Hashable, Sendable {
    /// A disk of this computer, or memory.
    case local
    /// Shared with other computers. SQLite cannot rely on its locks.
    case network(String)
    /// A program in user space, for anything from a local disk to a cloud.
    case userSpace
  }

  package var kind: Kind
  /// The free space in bytes.
  package var freeBytes: Int64
  /// Whether it is read-only.
  package var isReadOnly: Bool

  /// A file system with this free space.
  package init(kind: Kind, freeBytes: Int64, isReadOnly: Bool = false) {
    self.kind = kind
    self.freeBytes = freeBytes
    self.isReadOnly = isReadOnly
  }

  /// The file system of a file or folder; nil if the system does not report it.
  package static func of(_ path: String) -> FileSystemFact? {
    var status = statfs()
    guard statfs(PathText.bytes(path), &status) == 0 else { return nil }
    let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(max(0, Int(status.f_bsize))))
    // ST_RDONLY of statvfs(3), which the kernel also sets here.
    return FileSystemFact(
      kind: kind(ofMagic: UInt32(truncatingIfNeeded: Int(status.f_type))),
      freeBytes: bytes.overflow ? .max : Int64(clamping: bytes.partialValue),
      isReadOnly: Int(status.f_flags) & 1 != 0)
  }

  /// The kind for these numbers of statfs(2), from linux/magic.h and the manual page.
  static func kind(ofMagic magic: UInt32) -> Kind {
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
