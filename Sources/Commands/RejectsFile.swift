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

  /// - Throws: `Failure` of category `cannotCreate`.
  init(path: String) throws {
    self.path = path
    let descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0, let file = fdopen(descriptor, "w") else {
      throw Failure(.cannotCreate, "\(path): cannot create the file for rejected rows: \(String(cString: strerror(errno)))")
    }
    self.file = file
  }

  func add(_ rejection: Rejection, header: String?) throws {
    guard !rejection.source.isEmpty else { return }
    if let header, header != self.header {
      self.header = header
      fputs(header + "\n", file)
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
