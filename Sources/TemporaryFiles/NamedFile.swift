// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

/// A new file with a name that no other file has, of which only its owner can read anything. The caller closes and removes
/// it.
package struct NamedFile {
  /// The path, for `PathText`.
  package let path: String
  /// Open for reading and writing.
  package let descriptor: Int32

  /// Creates an empty file with the mode 0600.
  ///
  /// - Parameters:
  ///   - start: what the path begins with, before six characters that make it unique.
  ///   - end: what follows them.
  ///   - message: the beginning of the message of a failure, before the reason.
  /// - Throws: `Failure` of category `permission` or `cannotCreate`.
  package init(_ start: String, end: String = "", orFailWith message: String) throws(Failure) {
    var template = PathText.bytes(start + "XXXXXX" + end)
    descriptor = mkstemps(&template, Int32(PathText.bytes(end).count - 1))
    guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      let reason = errno
      throw Failure(
        reason == EACCES || reason == EPERM ? .permission : .cannotCreate,
        "\(message): \(String(cString: strerror(reason)))")
    }
    path = PathText.text(template)
  }
}
