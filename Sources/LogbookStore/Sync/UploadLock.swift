// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A lock for work that only one process may do with a store. The kernel releases it when the process ends in
/// any way. Imports and edits do not use it.
package struct UploadLock: Sendable {
  /// The kinds of work that exclude each other. Each kind has a separate lock.
  package enum Work: String, Sendable {
    /// An upload to the remote, with its pull.
    case upload
    /// A fetch from sources.
    case fetch
    /// A session with a Bluetooth meter. Its path is that of the list of paired meters, not of a store.
    case meter
  }

  private let descriptor: Int32

  /// Acquires the lock for a path; nil while another process holds it for the same work.
  ///
  /// - Throws: `Failure`: `permission`, `cannotCreate` if the lock's file cannot be created next to the
  ///   store.
  package static func acquire(storePath: String, for work: Work = .upload) throws -> UploadLock? {
    let path = Self.path(storePath, work)
    let descriptor = open(PathText.bytes(path), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .cannotCreate,
        "\(path): cannot create the lock of a store for \(work.rawValue): \(String(cString: strerror(errno)))"
      )
    }
    for attempt in 1...maxAttempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return UploadLock(descriptor: descriptor) }
      // Waits and tries again, since a call of `isHeld` in another process holds the lock for some
      // microseconds.
      if errno == EWOULDBLOCK, attempt < maxAttempts { usleep(2000) }
    }
    let reason = errno
    close(descriptor)
    guard reason == EWOULDBLOCK else {
      throw Failure(.inputOutput, "\(path): cannot lock: \(String(cString: strerror(reason)))")
    }
    return nil
  }

  /// Whether an upload of the store is running. This function holds the lock for a moment, and `acquire`
  /// waits for that moment.
  ///
  /// - Throws: `Failure`: `permission`, `inputOutput` if the lock's file exists and cannot be read.
  static func isHeld(storePath: String) throws -> Bool {
    let path = Self.path(storePath)
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return false }
      throw Failure(
        errno == EACCES || errno == EPERM ? .permission : .inputOutput,
        "\(path): cannot read the lock of uploads: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private static let maxAttempts = 5

  private static func path(_ storePath: String, _ work: Work = .upload) -> String {
    "\(storePath)-\(work.rawValue)"
  }

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Releases the lock.
  package func release() { close(descriptor) }
}
