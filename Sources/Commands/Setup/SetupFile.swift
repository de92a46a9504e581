// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// A file that `setup` installs.
struct SetupFile {
  enum Content {
    case text(String)
    case copy(of: String)
  }

  let path: String
  let content: Content
  var mode: mode_t = 0o644

  /// The SHA-256 of the content to be installed.
  ///
  /// - Throws: `Failure` if the source of a copy cannot be read.
  func digest() throws(Failure) -> String {
    switch content {
    case .text(let text):
      var digest = Digest()
      digest.update(text)
      return digest.hexadecimal()
    case .copy(let source):
      guard let digest = try Self.digest(of: source) else { throw Self.failure(ENOENT, source) }
      return digest
    }
  }

  /// Writes a temporary file next to the target and renames it. So a running program keeps its old file, and
  /// no link is followed.
  func write() throws(Failure) {
    let part = path + ".glucoport-part"
    unlink(part)
    let descriptor = open(part, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw Self.failure(errno, part) }
    do throws(Failure) {
      defer { close(descriptor) }
      try fill(descriptor)
      // Independent of the umask: these files are for all users.
      guard fchmod(descriptor, mode) == 0, fsync(descriptor) == 0 else { throw Self.failure(errno, part) }
      guard rename(part, path) == 0 else { throw Self.failure(errno, path) }
    } catch {
      unlink(part)
      throw error
    }
  }

  private func fill(_ descriptor: Int32) throws(Failure) {
    switch content {
    case .text(let text): try Self.write(Array(text.utf8)[...], to: descriptor, path)
    case .copy(let source):
      try Self.forEachPiece(of: source) { (piece) throws(Failure) in
        try Self.write(piece, to: descriptor, path)
      }
    }
  }

  /// The SHA-256 of a file; nil if it does not exist.
  static func digest(of path: String) throws(Failure) -> String? {
    guard access(path, F_OK) == 0 else { return nil }
    var digest = Digest()
    try forEachPiece(of: path) { piece in piece.withUnsafeBytes { digest.update($0) } }
    return digest.hexadecimal()
  }

  static func failure(_ code: Int32, _ path: String) -> Failure {
    let isPermission = code == EACCES || code == EPERM
    return Failure(
      isPermission ? .permission : .cannotCreate,
      "\(path): \(String(cString: strerror(code)))" + (isPermission ? "; run this command with sudo" : ""))
  }

  private static func forEachPiece(
    of path: String, _ work: (ArraySlice<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno, path) }
    defer { close(descriptor) }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count >= 0 else { throw failure(errno, path) }
      if count == 0 { return }
      try work(piece[..<count])
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String) throws(Failure)
  {
    var rest = bytes
    while !rest.isEmpty {
      let count = uninterrupted { rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } }
      guard count > 0 else { throw failure(errno, path) }
      rest = rest.dropFirst(count)
    }
  }
}
