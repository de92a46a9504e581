// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore

/// A list, such as that of the persons, in a JSON file of the data folder. Only its owner can read the file,
/// and no remote gets it.
struct ListFile {
  private static let maxBytes: off_t = 1 << 20

  /// The name of the file in the data folder.
  let name: String
  /// What the file contains, in the words of a message: `list of persons`.
  let title: String
  /// What a person does to restore the list, in the words of a message: `add them again`.
  let remedy: String

  /// The path of the file; nil if the environment names no data folder.
  var path: String? { Host.dataFolder.map { $0 + "/" + name } }

  /// The bytes of the file; nil if it does not exist.
  ///
  /// - Throws: `Failure`: `badInput` if the file is too large or not a regular one, `permission`,
  ///   `inputOutput`.
  func bytes() throws -> [UInt8]? {
    guard let path else { return nil }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failure(path, "cannot be read")
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_size <= Self.maxBytes
    else { throw fault() }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw failure(path, "cannot be read")
    }
    return bytes
  }

  /// Reads the elements of the list; none if the file does not exist.
  ///
  /// - Parameters:
  ///   - member: the name of the JSON array in the file.
  ///   - element: reads one element of this array.
  /// - Throws: `Failure` as for `bytes`.
  func elements<Element>(
    of member: String, _ element: (inout JSONScanner) throws(JSONError) -> Element
  ) throws -> [Element] {
    guard let bytes = try bytes() else { return [] }
    var elements: [Element] = []
    do throws(JSONError) {
      try JSONScanner.read(bytes) { (scanner) throws(JSONError) in
        try scanner.object { (name, scanner) throws(JSONError) in
          guard name == member else { return false }
          try scanner.array { (scanner) throws(JSONError) in elements.append(try element(&scanner)) }
          return true
        }
      }
    } catch {
      throw fault(error.reason)
    }
    return elements
  }

  /// Runs work while a lock keeps other processes from changing the list.
  ///
  /// - Throws: errors of the work; `Failure`: `configuration` without a data folder, `cannotCreate`,
  ///   `permission`, `inputOutput`.
  func locked<Value>(_ work: () throws -> Value) throws -> Value {
    guard let path, let folder = Host.dataFolder else {
      throw Failure(
        .configuration, "no data folder for the \(title); set HOME or XDG_DATA_HOME to an absolute path")
    }
    Host.keepFilesPrivate()
    try Host.makeFolder(folder)
    let lock = open(PathText.bytes(path + ".lock"), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw failure(path + ".lock", "cannot be locked") }
    defer { close(lock) }
    return try work()
  }

  /// Takes a lock for work with the devices in the list, such as the Bluetooth meters. Returns nil while
  /// another process holds the lock.
  ///
  /// - Throws: `Failure` as for `locked`.
  func lock(for work: UploadLock.Work) throws -> UploadLock? {
    try locked { try path.flatMap { try UploadLock.acquire(storePath: $0, for: work) } }
  }

  /// Replaces the file. Another process that reads it gets either the whole old list or the whole new one.
  ///
  /// - Throws: `Failure` as in `SavedFile.write`.
  func save(_ list: some Encodable) throws {
    guard let path else { return }
    let bytes = Array((try OrderedJSON.text(list) + "\n").utf8)
    try SavedFile(path: path, replaces: true, protected: ProtectedFiles(store: nil)).write { sink in
      try bytes.withUnsafeBytes(sink)
    }
  }

  private func fault(_ reason: String? = nil) -> Failure {
    Failure(
      .badInput,
      "\(displayed(path ?? name)): not a \(title)\(reason.map { ": \($0)" } ?? ""); move it away, and \(remedy)"
    )
  }

  private func failure(_ path: String, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM ? .permission : .inputOutput,
      "\(displayed(path)): \(what): \(String(cString: strerror(reason)))")
  }
}
