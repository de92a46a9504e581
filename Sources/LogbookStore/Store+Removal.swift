// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
package import Logbook

/// A file that is overwritten before it is removed, so that its content does not stay in free blocks of the
/// disk. This does not help on file systems that never write in place, and on disks that move blocks.
package struct ErasedFile {
  /// What happened to the file.
  package enum Erasure: Hashable, Sendable {
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
  package func remove(ifSHA256 sha256: String?) throws(Failure) -> Erasure {
    guard let sha256 else { return try remove(checking: nil) }
    let begun = try ErasedFile(path + Self.suffix).remove(checking: nil)
    let outcome = try remove(checking: sha256)
    return outcome == .absent && begun == .removed ? .removed : outcome
  }

  private func remove(checking sha256: String?) throws(Failure) -> Erasure {
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

extension Store {
  /// The suffixes of a store's files, in the order of removal. The log comes before the store: a log that is
  /// left over could be applied to a later store with the same name.
  private static let companions = ["-wal", "-shm", "-journal", "", "-upload", "-fetch"]
  /// The suffixes of copies of the store that `backup`, `restore` and other commands leave next to it.
  private static let copies = ([".before-restore", ".before-schema", ".restoring", ".part"] + beforeMerges)
    .flatMap { name in
      ["", ".part"].flatMap { part in ["", "-journal", "-wal", "-shm"].map { name + part + $0 } }
    }

  /// The suffixes of the copies that `import` makes of a store before each merge.
  package static let beforeMerges = [".before-merge"] + (2...99).map { ".before-merge-\($0)" }

  /// Closes the store and removes its files permanently, for the role `sync`. If another process has an open
  /// transaction, the removal waits until this transaction ends.
  ///
  /// - Parameter overwriting: whether the files are overwritten first. If so, copies next to the store are
  ///   removed as well.
  /// - Throws: `Failure` of category `temporary` while another process keeps the store busy, `inputOutput`
  ///   when a file cannot be removed.
  package func remove(overwriting: Bool = false) throws {
    // The empty write transaction waits until other processes have ended their transactions, so none is
    // interrupted.
    try write { _ in }
    // Overwriting must come before closing: SQLite removes its log when it closes, and the content would stay
    // on the disk.
    if overwriting { for suffix in ["-wal", ""] { try ErasedFile(path + suffix).overwrite() } }
    try translatingErrors(path) { try queue.close() }
    try Self.removeFiles(of: path, overwriting: overwriting)
  }

  /// Removes the files of a store that is not open, because it is damaged or because an earlier removal was
  /// interrupted.
  ///
  /// - Throws: `Failure` of category `inputOutput` or `permission` when a file cannot be removed.
  package static func eraseFiles(of path: String) throws(Failure) {
    try removeFiles(of: path, overwriting: true)
  }

  /// Whether a file can be erased although it cannot be opened as a store. True if it begins with the bytes
  /// of a store, or with zeros, which an interrupted removal wrote. Also true for an empty file.
  package static func isErasable(path: String) -> Bool {
    if isStore(path: path) { return true }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 100)
    return pread(descriptor, &bytes, bytes.count, 0) >= 0 && bytes.allSatisfy { $0 == 0 }
  }

  private static func removeFiles(of path: String, overwriting: Bool) throws(Failure) {
    for suffix in (overwriting ? copies : []) + companions {
      if overwriting { try ErasedFile(path + suffix).overwrite() }
      guard unlink(PathText.bytes(path + suffix)) == 0 || errno == ENOENT else {
        throw Failure(
          .inputOutput, "\(path + suffix): cannot remove the file: \(String(cString: strerror(errno)))")
      }
    }
  }
}
