// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

/// A temporary file that no other process can open. It has the mode 0600 and no name, so the system deletes
/// it when the process ends.
package final class UnlinkedFile: Sendable {
  /// The folder whose file system stores the file: `TMPDIR`, or `/tmp` if it is not set.
  package let folder: String
  private let descriptor: Int32

  /// Creates an empty file.
  ///
  /// - Throws: `Failure` of category `permission` or `cannotCreate`.
  package init() throws {
    folder = getenv("TMPDIR").map { PathText.text($0) } ?? "/tmp"
    let file = try NamedFile(
      folder + "/glucoport.", orFailWith: "cannot create a temporary file in \(folder)")
    descriptor = file.descriptor
    unlink(PathText.bytes(file.path))
  }

  deinit { close(descriptor) }

  /// Appends all of the bytes to the file.
  ///
  /// - Throws: `Failure` of category `inputOutput`.
  package func append(_ bytes: UnsafeRawBufferPointer) throws {
    var written = 0
    while written < bytes.count {
      let count = uninterrupted {
        write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
      }
      guard count > 0 else { throw failure("cannot buffer the input") }
      written += count
    }
  }

  /// The number of bytes.
  ///
  /// - Throws: `Failure` of category `inputOutput`.
  package func size() throws -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("cannot read the buffered input") }
    return Int(status.st_size)
  }

  /// Fills the buffer with the bytes from an offset on.
  ///
  /// - Throws: `Failure` of category `inputOutput`, also if the file ends before the buffer is full.
  package func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    var filled = 0
    while filled < buffer.count {
      let count = uninterrupted {
        pread(
          descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(offset + filled))
      }
      guard count >= 0 else { throw failure("cannot read the buffered input") }
      guard count > 0 else { throw Failure(.inputOutput, "the temporary file in \(folder) is truncated") }
      filled += count
    }
  }

  /// Creates another descriptor for the file. Both descriptors share the position for reading and writing.
  ///
  /// - Throws: `Failure` of category `inputOutput`.
  package func duplicate() throws -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw failure("cannot open the buffered input") }
    return copy
  }

  private func failure(_ what: String) -> Failure {
    Failure(.inputOutput, "\(what) in \(folder): \(String(cString: strerror(errno)))")
  }
}

/// A new file with a unique name that only its owner can read. The caller must close and remove it.
package struct NamedFile {
  /// The path, for `PathText`.
  package let path: String
  /// A descriptor that is open for reading and writing.
  package let descriptor: Int32

  /// Creates an empty file with the mode 0600.
  ///
  /// - Parameters:
  ///   - start: the beginning of the path. Six characters that make the path unique are added to it.
  ///   - end: the end of the path, after these characters.
  ///   - message: the beginning of a failure's message, to which the reason is added.
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
