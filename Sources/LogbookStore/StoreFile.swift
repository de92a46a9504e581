// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The file of a store as the operating system sees it. It finds the reasons that errors of SQLite do not
/// state.
enum StoreFile {
  /// The flag `O_PATH` of Linux, which Swift does not import. With it, a descriptor refers to a file without
  /// opening it.
  private static let pathOnly: Int32 = 0x20_0000

  /// Whether the path leads to a readable file.
  ///
  /// - Throws: `Failure`: `missingInput` for a folder, `permission`, `badInput` if it is not a regular file.
  static func exists(_ path: String) throws(Failure) -> Bool {
    var status = stat()
    guard stat(PathText.bytes(path), &status) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return false }
      throw failure(errno, path, else: .inputOutput)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR:
      throw Failure(.missingInput, "\(path): Is a directory; name the file of the store in it")
    default: throw Failure(.badInput, "\(path): not a regular file")
    }
    guard access(PathText.bytes(path), R_OK) == 0 else { throw failure(errno, path, else: .inputOutput) }
    return true
  }

  /// Whether the file is empty, for example because a person created it before the first import.
  static func isEmpty(_ path: String) -> Bool {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 && status.st_size == 0
  }

  /// Whether the file's disk has space for more than a batch. If it has, and SQLite reports a full disk, the
  /// folder for temporary files is full.
  static func hasRoom(_ path: String) -> Bool {
    var status = statvfs()
    guard !path.isEmpty, statvfs(PathText.bytes(PathText.folder(of: path)), &status) == 0 else {
      return false
    }
    let maxBatchBytes: UInt = 64 << 20
    return status.f_bavail > maxBatchBytes / max(status.f_frsize, 1)
  }

  /// The path of the file to which a path leads, without symbolic links. If it leads to no file, the path
  /// itself.
  static func resolved(_ path: String) -> String { PathText.real(path) ?? path }

  /// Creates an empty file and missing folders of its path, accessible only to the owner. A file with content
  /// is not changed.
  static func create(_ path: String) throws(Failure) {
    try makeFolder(PathText.folder(of: path))
    let descriptor = open(PathText.bytes(path), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw failure(errno, "\(path): cannot create the store", else: .cannotCreate)
    }
    defer { close(descriptor) }
    // An empty file that already existed may be readable for others. It contains nothing yet, so its mode can
    // be changed.
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == 0, status.st_mode & 0o077 != 0 else { return }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw failure(errno, "\(path): cannot make the file private", else: .cannotCreate)
    }
  }

  /// The reason why SQLite cannot open a file, which SQLite's own error does not state.
  static func refusal(_ path: String) -> Failure {
    for (name, mode) in [(path, R_OK | W_OK), (PathText.folder(of: path), W_OK | X_OK)] {
      if access(PathText.bytes(name), mode) != 0 { return failure(errno, name, else: .cannotCreate) }
    }
    if let reason = missingDescriptors { return failure(reason, path, else: .inputOutput) }
    return Failure(
      .cannotCreate,
      "\(path): cannot open the store; check the owner and permissions of '\(path)-wal' and '\(path)-shm'"
    )
  }

  /// The error if not enough files can be opened for a store; nil if they can. SQLite does not report that
  /// too many files are open.
  private static var missingDescriptors: Int32? {
    var reason: Int32?
    let spare = (0..<8).map { _ in
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor < 0, errno == EMFILE || errno == ENFILE { reason = errno }
      return descriptor
    }
    for descriptor in spare where descriptor >= 0 { close(descriptor) }
    return reason
  }

  /// Passes a path to SQLite, whose Swift interface accepts only Unicode text. For a path that is not UTF-8,
  /// the path of a descriptor is passed instead. SQLite resolves it to the file's real name, so the log is
  /// next to the file. Closing this descriptor releases no lock, since it was opened with `O_PATH`.
  static func withText<Value>(_ path: String, _ work: (String) throws -> Value) throws -> Value {
    guard PathText.isEscaped(path) else { return try work(path) }
    let descriptor = open(PathText.bytes(path), pathOnly | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno, path, else: .inputOutput) }
    defer { close(descriptor) }
    return try work("/proc/self/fd/\(descriptor)")
  }

  private static func makeFolder(_ path: String) throws(Failure) {
    if access(PathText.bytes(path), F_OK) == 0 { return }
    let reason = errno
    if reason == ENOENT, path != ".", path != "/" {
      try makeFolder(PathText.folder(of: path))
      if mkdir(PathText.bytes(path), 0o700) == 0 || errno == EEXIST { return }
    }
    throw failure(
      reason == ENOENT ? errno : reason, "\(path): cannot create the folder", else: .cannotCreate)
  }

  private static func failure(_ reason: Int32, _ what: String, else category: FailureCategory) -> Failure {
    Failure(
      reason == EACCES || reason == EPERM ? .permission : category,
      "\(what): \(String(cString: strerror(reason)))")
  }
}
