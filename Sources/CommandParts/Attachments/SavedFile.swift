// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import TemporaryFiles

/// An output file with the mode 0600 that gets its name only when it is complete. It replaces only a regular
/// file. If the path is a symbolic link, the target of the link is replaced.
package struct SavedFile {
  let path: String
  /// Whether the output may replace an existing file.
  let replaces: Bool
  /// Files that the output never replaces, such as the store.
  let protected: ProtectedFiles

  /// A file at this path.
  ///
  /// - Parameters:
  ///   - replaces: whether the output may replace an existing file.
  ///   - protected: files that the output never replaces.
  package init(path: String, replaces: Bool, protected: ProtectedFiles) {
    (self.path, self.replaces, self.protected) = (path, replaces, protected)
  }

  /// Writes the file. The closure gets a function that appends bytes to it.
  ///
  /// - Throws: `Failure`: `cannotCreate`, also if the existing file must not be replaced, such as a device;
  ///   `inputOutput`. Also errors of the closure.
  package func write(_ fill: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
    try refuseExisting()
    let file = try NamedFile(target + ".", orFailWith: "\(displayed(path)): cannot be created")
    let temporary = PathText.bytes(file.path)
    do {
      defer { close(file.descriptor) }
      try fill { try send($0, to: file.descriptor) }
      guard fsync(file.descriptor) == 0 else { throw failure(.inputOutput, "cannot be written") }
      try moveIntoPlace(temporary)
    } catch {
      unlink(temporary)
      throw error
    }
  }
}

extension SavedFile {
  private var existing: Failure {
    Failure(.cannotCreate, "\(displayed(path)): File exists; replace it with --force")
  }

  /// The path at which the complete file is placed. If existing files may be replaced and `path` is a
  /// symbolic link, it is the target of the link.
  private var target: String { replaces ? PathText.real(path) ?? path : path }

  private func refuseExisting() throws {
    try protected.refuse(path)
    var status = stat()
    if !replaces, lstat(PathText.bytes(path), &status) == 0 { throw existing }
    // `rename` would replace even a device file of the system with the output, so only a regular file is
    // accepted.
    if stat(PathText.bytes(path), &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw Failure(
        .cannotCreate, "\(displayed(path)): not a regular file; choose another file for the output")
    }
  }

  /// Moves the complete file to its final name. If existing files must not be replaced, this uses a hard
  /// link, which fails if a file of this name was created in the meantime.
  private func moveIntoPlace(_ temporary: [CChar]) throws {
    // Writing takes a while, and a store may have been created at this path in the meantime. So the path is
    // checked again.
    try refuseExisting()
    if replaces {
      guard rename(temporary, PathText.bytes(target)) == 0 else {
        throw failure(.cannotCreate, "cannot be created")
      }
      return
    }
    if link(temporary, PathText.bytes(path)) == 0 {
      unlink(temporary)
      return
    }
    guard errno != EEXIST else { throw existing }
    // Some file systems have no hard links, such as those of memory cards. On these, the file is renamed.
    guard errno == EPERM || errno == ENOTSUP, rename(temporary, PathText.bytes(path)) == 0 else {
      throw failure(.cannotCreate, "cannot be created")
    }
  }

  private func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) }
      guard count > 0 else { throw failure(.inputOutput, "cannot be written") }
      sent += count
    }
  }

  private func failure(_ category: FailureCategory, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES ? .permission : category,
      "\(displayed(path)): \(what): \(String(cString: strerror(reason)))")
  }
}
