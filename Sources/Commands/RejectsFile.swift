// SPDX-License-Identifier: Apache-2.0

import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file of `--rejects`: rejected rows as they stood, under their header, so that they can be mended and imported.
final class RejectsFile {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>
  private var header: String?

  /// - Parameter others: files that this one must not overwrite: the inputs and the store.
  /// - Throws: `Failure` of category `cannotCreate`, or `usage` for one of the others.
  init(path: String, apartFrom others: [String]) throws {
    self.path = path
    if others.contains(where: { Self.isSameFile(path, $0) }) {
      throw Failure(
        .usage, "\(path): the rejected rows would overwrite this file; name another with --rejects")
    }
    let descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0, Self.makeEmptyAndPrivate(descriptor), let file = fdopen(descriptor, "w") else {
      throw Failure(
        .cannotCreate,
        "\(path): cannot create the file for rejected rows: \(String(cString: strerror(errno)))")
    }
    self.file = file
  }

  private static func isSameFile(_ path: String, _ other: String) -> Bool {
    var first = stat()
    var second = stat()
    guard stat(path, &first) == 0, stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// A file that stood there before may be readable by others.
  private static func makeEmptyAndPrivate(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    guard status.st_mode & S_IFMT == S_IFREG else { return true }
    return fchmod(descriptor, 0o600) == 0 && ftruncate(descriptor, 0) == 0
  }

  func add(_ rejection: Rejection, header: String?) throws {
    guard !rejection.source.isEmpty else { return }
    if let header, header != self.header {
      self.header = header
      guard fputs(header + "\n", file) >= 0 else { throw failure() }
    }
    guard fputs(rejection.source + "\n", file) >= 0 else { throw failure() }
  }

  func close() throws {
    guard fclose(file) == 0 else { throw failure() }
  }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(path): cannot write rejected rows: \(String(cString: strerror(errno)))")
  }
}
