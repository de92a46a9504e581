// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite
import Glibc
import Logbook

/// A store that can be read where nothing can be written: on read-only media, or in a folder of somebody else.
///
/// SQLite needs a file for its log next to the store even to read it, unless the URI declares the file
/// immutable.
struct FrozenFile {
  /// The URI that SQLite opens instead of the path.
  let name: String

  /// The store at a path; nil if its folder can be written, or if the library does not support URIs.
  ///
  /// - Throws: `Failure`: `permission` if the log next to the store holds changes that cannot be read in this
  ///   way.
  init?(path: String) throws(Failure) {
    // The log is next to the file itself, not next to a link to it.
    guard sqlite3_compileoption_used("USE_URI") != 0 else { return nil }
    let real = StoreFile.resolved(path)
    guard access(PathText.bytes(StoreFile.folder(of: real)), W_OK) != 0 else { return nil }
    if Self.size(real + "-wal") > 0 {
      // If the log has its index, a user without write permission can read it.
      if access(PathText.bytes(real + "-shm"), R_OK) == 0 { return nil }
      throw Failure(
        .permission,
        "\(path): its last changes are in '\(real)-wal', which can only be read in a folder that can be written; copy both "
          + "files into one"
      )
    }
    name = "file:" + Self.escaped(real) + "?mode=ro&immutable=1"
  }

  /// The length of a file; 0 if it does not exist.
  private static func size(_ path: String) -> Int64 {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 ? Int64(status.st_size) : 0
  }

  /// The path with its bytes escaped for a URI.
  private static func escaped(_ path: String) -> String {
    PathText.bytes(path).dropLast().map { unit in
      let byte = UInt8(bitPattern: unit)
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        return String(UnicodeScalar(byte))
      default: return (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
      }
    }.joined()
  }
}
