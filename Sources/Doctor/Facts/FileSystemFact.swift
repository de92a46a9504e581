// SPDX-License-Identifier: Apache-2.0

import CLinux
import Logbook

/// The file system on which a file is.
package struct FileSystemFact: Hashable, Sendable {
  /// What it is called and whether a store works on it.
  package enum Kind: Hashable, Sendable {
    /// A disk of this computer, or memory.
    case local
    /// Shared with other computers, whose locks SQLite cannot rely on.
    case network(String)
    /// A program in user space: anything, from a local disk to a cloud.
    case userSpace
  }

  /// Its kind.
  package var kind: Kind
  /// The bytes that may still be written.
  package var freeBytes: Int64
  /// Whether nothing may be written.
  package var isReadOnly: Bool

  /// A file system with this much room.
  package init(kind: Kind, freeBytes: Int64, isReadOnly: Bool = false) {
    self.kind = kind
    self.freeBytes = freeBytes
    self.isReadOnly = isReadOnly
  }

  /// The file system of a file or folder; nil where the system does not say.
  package static func of(_ path: String) -> FileSystemFact? {
    var status = statfs()
    guard statfs(PathText.bytes(path), &status) == 0 else { return nil }
    let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(max(0, Int(status.f_bsize))))
    // ST_RDONLY of statvfs(3), which the kernel sets here, too.
    return FileSystemFact(
      kind: kind(ofMagic: UInt32(truncatingIfNeeded: Int(status.f_type))),
      freeBytes: bytes.overflow ? .max : Int64(clamping: bytes.partialValue),
      isReadOnly: Int(status.f_flags) & 1 != 0)
  }

  /// The kind that statfs(2) names by these numbers, which linux/magic.h and the page list.
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

/// The kernel's opinion of its clock.
package enum ClockSynchronisation {
  /// Whether a time service keeps the clock right; nil where the kernel does not say.
  package static var isKept: Bool? {
    var state = timex()
    let answer = adjtimex(&state)
    return answer < 0 ? nil : answer != TIME_ERROR && state.status & STA_UNSYNC == 0
  }
}
