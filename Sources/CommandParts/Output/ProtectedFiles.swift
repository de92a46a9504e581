// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logbook
package import LogbookStore

/// The files that no output of a command replaces or extends, even with `--force`:
///
/// - stores and other SQLite databases, with the files that SQLite keeps for them
/// - all files in the data folder of a server
/// - the inputs of the command, and the files of the remote's token and certificates
package struct ProtectedFiles {
  /// Each protected file, with the words that describe it in a message.
  private var files: [(path: String, what: String)] = []
  /// The paths of the files that belong to the store. A link with another name may lead to such a file, so
  /// the files are compared, too.
  private var companionPaths: [String] = []

  /// The suffixes of the files that SQLite, uploads, fetches and backups keep next to a database.
  private static let companions = ["-wal", "-shm", "-journal", "-upload", "-fetch", "-backups"]
  /// The first bytes of every SQLite database.
  private static let databaseHeader = Array("SQLite format 3\0".utf8)

  /// - Parameters:
  ///   - store: the path of the store; nil for a command without one.
  ///   - remote: the remote of the store. The files of its token and certificates are protected.
  ///   - inputs: the paths of the files that the command reads; `-` for standard input.
  package init(store: String?, remote: RemoteSetting? = nil, inputs: [String] = []) {
    if let store {
      files.append((store, "the store"))
      companionPaths = Self.companions.map { store + $0 }
    }
    files += inputs.map { ($0, "an input of this command") }
    guard let access = remote?.access else { return }
    if case .file(let path) = access.token { files.append((path, "the token of the remote")) }
    let certificates = [
      access.authorities, access.clientCertificate?.certificateFile, access.clientCertificate?.keyFile,
    ]
    files += certificates.compactMap { $0 }.map { ($0, "a certificate or key of the remote") }
  }

  /// Throws if an output must not be written to a path.
  ///
  /// - Throws: `Failure` of category `usage` for a protected file, and for an existing file that cannot be
  ///   read, since it may be a database.
  package func refuse(_ path: String) throws(Failure) {
    guard let what = try protection(of: path) else { return }
    throw Failure(.usage, "\(displayed(path)): this is \(what); choose another file for the output")
  }

  /// Throws if a command must not write its unfinished output to a path. A database at this path is allowed,
  /// since it can only be the unfinished output of a run that was killed.
  ///
  /// - Throws: as in `refuse(_:)`.
  package func refuse(part path: String) throws(Failure) {
    guard let what = try protection(of: path, isPart: true) else { return }
    throw Failure(.usage, "\(displayed(path)): this is \(what); choose another file for the output")
  }

  private func protection(of path: String, isPart: Bool = false) throws(Failure) -> String? {
    if let status = Self.status(path) {
      for (other, what) in files where Self.isSame(status, as: other) { return what }
      if !isPart, try Self.isDatabase(path, status) { return "an SQLite database" }
    }
    if let what = try protection(ofName: path) { return what }
    guard let status = Self.status(path), let file = PathText.real(path) else { return nil }
    if companionPaths.contains(where: { Self.isSame(status, as: $0) }) {
      return "a file that belongs to the store"
    }
    return try protection(ofName: file)
  }

  /// The description of the protected file that has this name, or would have it if it existed. Nil if the
  /// name belongs to no protected file.
  private func protection(ofName path: String) throws(Failure) -> String? {
    for suffix in Self.companions where path.hasSuffix(suffix) {
      let database = String(path.dropLast(suffix.count))
      guard let status = Self.status(database) else { continue }
      let isStore = files.contains { $0.what == "the store" && Self.isSame(status, as: $0.path) }
      let isDatabase = try Self.isDatabase(database, status)
      if isStore || isDatabase { return "a file that belongs to the database \(displayed(database))" }
    }
    return try isInServerFolder(path) ? "a place in the data folder of a server" : nil
  }

  /// Whether a path is in the data folder of a server, or in its folder of logbooks. The server would remove
  /// a file there by its name, or copy it into a backup.
  private func isInServerFolder(_ path: String) throws(Failure) -> Bool {
    guard let folder = PathText.real(PathText.folder(of: path)) else { return false }
    for place in [folder, PathText.folder(of: folder)] where place == folder || folder.hasSuffix("/logbooks")
    {
      let server = place + "/server.db"
      if let status = Self.status(server), try Self.isDatabase(server, status) { return true }
    }
    return false
  }

  /// The status of the file at a path, where links are followed; nil if the file does not exist.
  private static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 ? status : nil
  }

  private static func isSame(_ status: stat, as other: String) -> Bool {
    var found = stat()
    guard other == "-" ? fstat(STDIN_FILENO, &found) == 0 : stat(PathText.bytes(other), &found) == 0 else {
      return false
    }
    return found.st_dev == status.st_dev && found.st_ino == status.st_ino
  }

  private static func isDatabase(_ path: String, _ status: stat) throws(Failure) -> Bool {
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size >= databaseHeader.count else { return false }
    let descriptor = open(PathText.bytes(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw Failure(
        .usage,
        "\(displayed(path)): cannot see whether this is a database: \(String(cString: strerror(errno))); choose another file for the output"
      )
    }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: databaseHeader.count)
    guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw Failure(
        .usage,
        "\(displayed(path)): cannot see whether this is a database: it cannot be read; choose another file for the output"
      )
    }
    return bytes == databaseHeader
  }
}
