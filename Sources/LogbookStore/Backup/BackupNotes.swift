// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook

/// A note that `backup` made a backup of a store.
package struct BackupNote: Hashable, Sendable {
  /// When the backup was made, in UTC seconds.
  package let madeAt: Int64
  /// The absolute path of the file; empty for a backup that was streamed.
  package let path: String
  /// The length of the backup in bytes.
  package let size: Int64
  /// The SHA-256 of the backup's bytes, in hexadecimal.
  package let sha256: String

  /// A note of a backup with these properties.
  package init(madeAt: Int64, path: String, size: Int64, sha256: String) {
    (self.madeAt, self.path, self.size, self.sha256) = (madeAt, path, size, sha256)
  }

  /// Whether the file still has the bytes of the backup that was made.
  ///
  /// - Throws: `Failure` of category `inputOutput` for a file that cannot be read.
  package func isUnchanged() throws(Failure) -> Bool {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw Failure(.inputOutput, "\(path): cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try ErasedFile(path).digest(descriptor) == sha256
  }
}

/// The list of a store's backups, in a file next to the store. If the list were in the store, it would make
/// every backup differ from the previous one. Each line is a JSON object, and the newest is last.
package struct BackupNotes {
  /// The maximum number for the option `backup --keep`. With this option, older backups that these notes list
  /// are deleted.
  package static let maxKept = 500
  /// The maximum number of notes in the file.
  static let maxNotes = 1000
  /// The maximum size of the file in bytes. A longer file is rewritten with the newest notes only.
  private static let maxBytes = 512 << 10

  private let file: String

  /// The notes of the store at a path.
  package init(storePath: String) { file = storePath + "-backups" }

  /// The notes, oldest first; empty if there is no file. A truncated line is ignored.
  ///
  /// - Throws: `Failure`: `permission` and `inputOutput` for a file that cannot be opened.
  package func notes() throws(Failure) -> [BackupNote] {
    let descriptor = open(PathText.bytes(file), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw failure("cannot read the notes of backups", .inputOutput)
    }
    defer { close(descriptor) }
    return Self.notes(descriptor)
  }

  /// The newest note whose backup had exactly the content of this file, wherever the file is; nil if there is
  /// none.
  ///
  /// - Throws: `Failure` of category `inputOutput` for a file that cannot be read; else as `notes`.
  package func backupNote(ofBytesAt path: String) throws(Failure) -> BackupNote? {
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0 else {
      throw Failure(.inputOutput, "\(path): cannot be read: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else {
      throw Failure(.inputOutput, "\(path): cannot be read: \(String(cString: strerror(errno)))")
    }
    // A large file is read only if it has the size of a backup.
    let sameSize = try notes().filter { $0.size == Int64(status.st_size) }
    if sameSize.isEmpty { return nil }
    let digest = try ErasedFile(path).digest(descriptor)
    return sameSize.last { $0.sha256 == digest }
  }

  /// Adds a note.
  ///
  /// - Throws: `Failure`: `permission` and `cannotCreate` if the file next to the store cannot be written.
  package func add(_ note: BackupNote) throws(Failure) {
    while true {
      let descriptor = open(
        PathText.bytes(file), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw failure("cannot note the backup") }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX) == 0 else { throw failure("cannot lock the notes of backups") }
      var (held, named) = (stat(), stat())
      guard fstat(descriptor, &held) == 0, stat(PathText.bytes(file), &named) == 0 else {
        throw failure("cannot note the backup")
      }
      // Another process may have replaced the file after it was opened, so it is opened again.
      guard held.st_ino == named.st_ino else { continue }
      if held.st_size > Self.maxBytes {
        try write(Self.newest(Self.notes(descriptor)) + [note])
      } else {
        // A killed process may have left an incomplete last line. The note then begins on a new line.
        let start = held.st_size == 0 || Self.endsLine(descriptor, held.st_size) ? "" : "\n"
        try append(start + Self.line(note), to: descriptor)
      }
      return
    }
  }

  /// Overwrites and removes the file with the notes.
  ///
  /// - Throws: `Failure`: `permission`, `inputOutput`.
  package func remove() throws(Failure) {
    for path in [file, file + ".part"] where try ErasedFile(path).remove(ifSHA256: nil) == .other {
      throw Failure(.inputOutput, "\(path): not a file of notes; remove it by hand")
    }
  }

  /// The newest notes that fill half of `maxBytes`, so that the file is not rewritten for each further note.
  private static func newest(_ notes: [BackupNote]) -> ArraySlice<BackupNote> {
    var (count, bytes) = (0, 0)
    for note in notes.reversed() {
      bytes += line(note).utf8.count
      guard bytes <= maxBytes / 2, count < maxNotes - 1 else { break }
      count += 1
    }
    return notes.suffix(count)
  }

  private static func endsLine(_ descriptor: Int32, _ size: off_t) -> Bool {
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, size - 1) == 1 && byte == 0x0A
  }

  private static func notes(_ descriptor: Int32) -> [BackupNote] {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return [] }
    let count = min(Int(status.st_size), 2 * maxBytes)
    var bytes = [UInt8](repeating: 0, count: count)
    let filled = pread(descriptor, &bytes, count, status.st_size - off_t(count))
    return bytes.prefix(max(0, filled)).split(separator: 0x0A).compactMap { backupNote(Array($0)) }
      .suffix(maxNotes)
  }

  private static func line(_ note: BackupNote) -> String {
    "{\"made_at\":\(note.madeAt),\"path\":\(jsonText(note.path)),\"size\":\(note.size),\"sha256\":\(jsonText(note.sha256))}\n"
  }

  private static func backupNote(_ line: [UInt8]) -> BackupNote? {
    var (madeAt, path, size, sha256) = (Int64?.none, "", Int64(0), "")
    do throws(JSONError) {
      try JSONScanner.read(line) { (scanner) throws(JSONError) in
        try scanner.object { (name, scanner) throws(JSONError) in
          switch name {
          case "made_at": madeAt = try scanner.integer()
          case "path": path = try scanner.string()
          case "size": size = try scanner.integer()
          case "sha256": sha256 = try scanner.string()
          default: return false
          }
          return true
        }
      }
    } catch {
      return nil
    }
    return madeAt.map { BackupNote(madeAt: $0, path: path, size: size, sha256: sha256) }
  }

  private func write(_ notes: [BackupNote]) throws(Failure) {
    let part = file + ".part"
    let descriptor = open(PathText.bytes(part), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("cannot note the backup") }
    defer { close(descriptor) }
    try append(notes.map(Self.line).joined(), to: descriptor)
    guard fsync(descriptor) == 0, rename(PathText.bytes(part), PathText.bytes(file)) == 0 else {
      throw failure("cannot note the backup")
    }
  }

  private func append(_ text: String, to descriptor: Int32) throws(Failure) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { rest in
        uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) }
      }
      guard count > 0 else { throw failure("cannot note the backup") }
      written += count
    }
  }

  private func failure(_ what: String, _ category: FailureCategory = .cannotCreate) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES || reason == EPERM || reason == EROFS ? .permission : category,
      "\(file): \(what): \(String(cString: strerror(reason)))")
  }
}
