// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

/// A file that is overwritten before it is removed, so that its content does not stay in free blocks of the
/// disk. This does not help on file systems that never write in place, and on disks that move blocks.
package struct ErasedFile {
  /// What happened to the file.
  package enum Outcome: Hashable, Sendable {
    case removed, absent
    /// The file does not have the expected bytes, or it is not a regular file. It was not removed.
    case other
  }

  /// The suffix of a file's name while the file is overwritten.
  private static let suffix = ".glucoport-erase"
  private static let pieceBytes = 1 << 20
  private let path: String

  /// The file at a path.
  package init(_ path: String) { self.path = path }

  /// Overwrites and removes the file. If a SHA-256 is expected, the file is first renamed with `suffix`. If
  /// the command is interrupted, the next command recognises the file by this name. It then removes the file,
  /// although its bytes do not have the SHA-256 any more.
  ///
  /// - Parameter sha256: the expected SHA-256 of its bytes in hexadecimal; nil for any content.
  /// - Throws: `Failure`: `permission`, `inputOutput`.
  package func remove(ifSHA256 sha256: String?) throws(Failure) -> Outcome {
    guard let sha256 else { return try remove(checking: nil) }
    let begun = try ErasedFile(path + Self.suffix).remove(checking: nil)
    let outcome = try remove(checking: sha256)
    return outcome == .absent && begun == .removed ? .removed : outcome
  }

  private func remove(checking sha256: String?) throws(Failure) -> Outcome {
    let descriptor = open(PathText.bytes(path), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return .absent }
      // The path leads to a folder or a symbolic link.
      if errno == EISDIR || errno == ELOOP { return .other }
      throw Failure(systemCallOn: path, "cannot be opened to remove it")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return .other }
    var name = path
    if let sha256 {
      guard try digest(descriptor) == sha256 else { return .other }
      name += Self.suffix
      guard rename(PathText.bytes(path), PathText.bytes(name)) == 0 else {
        throw Failure(systemCallOn: path, "cannot be removed")
      }
      try synchroniseFolder(PathText.folder(of: name))
    }
    try overwrite(descriptor, Int(status.st_size))
    guard unlink(PathText.bytes(name)) == 0 else { throw Failure(systemCallOn: path, "cannot be removed") }
    return .removed
  }

  /// Overwrites the bytes of the file without removing it.
  func overwrite() throws(Failure) {
    let descriptor = open(PathText.bytes(path), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return }
      throw Failure(systemCallOn: path, "cannot be overwritten")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(systemCallOn: path, "cannot be overwritten") }
    try overwrite(descriptor, Int(status.st_size))
  }

  private func overwrite(_ descriptor: Int32, _ size: Int) throws(Failure) {
    let zeros = [UInt8](repeating: 0, count: Self.pieceBytes)
    var offset = 0
    while offset < size {
      let count = uninterrupted { pwrite(descriptor, zeros, min(zeros.count, size - offset), off_t(offset)) }
      guard count > 0 else { throw Failure(systemCallOn: path, "cannot be overwritten") }
      offset += count
    }
    guard fsync(descriptor) == 0 else { throw Failure(systemCallOn: path, "cannot be overwritten") }
  }

  /// The SHA-256 of the bytes of an open file in hexadecimal.
  func digest(_ descriptor: Int32) throws(Failure) -> String {
    var digest = Digest()
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    var offset = 0
    while true {
      let count = uninterrupted { pread(descriptor, &piece, piece.count, off_t(offset)) }
      guard count >= 0 else { throw Failure(systemCallOn: path, "cannot be read") }
      guard count > 0 else { return digest.hexadecimal() }
      piece.withUnsafeBytes { digest.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += count
    }
  }

}
