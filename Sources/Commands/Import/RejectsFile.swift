// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Logbook

/// The file of `--rejects`. It has the rejected rows as in the input, after their header, so that a person
/// can correct and import them.
final class RejectsFile {
  /// The argument of `--rejects` that means standard output.
  static let standardOutput = "-"

  private enum Destination {
    case output(Output)
    case file(UnsafeMutablePointer<FILE>, path: String)
  }

  private let destination: Destination
  private var header: String?
  private var last: Rejection?
  /// How many rejected items the file lacks, since their rows are unknown or too long.
  private(set) var missing = 0

  /// Writes rejected rows to standard output.
  init(_ output: Output) { destination = .output(output) }

  /// Opens the file. If `appends` is false, the file must be new or empty. `mktemp` creates an empty file.
  ///
  /// - Parameters:
  ///   - appends: whether the rows are added to the present content.
  ///   - protected: files that must not be written, such as the store.
  /// - Throws: `Failure`: `cannotCreate`, also for a file with content if `appends` is false; `usage` for a
  ///   protected file.
  package init(path: String, appends: Bool, apartFrom protected: ProtectedFiles) throws {
    try protected.refuse(path)
    let descriptor = try Self.open(path, appends: appends)
    let lastLine: LastLine
    do {
      // If the store does not exist yet, the call above may have created a file at its path. Only a second
      // check recognises this file as the store.
      try protected.refuse(path)
      lastLine = try Self.prepare(descriptor, path, appends: appends)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    guard let file = fdopen(descriptor, "a") else {
      throw Self.cannotCreate(path, String(cString: strerror(errno)))
    }
    destination = .file(file, path: path)
    if lastLine == .open { try write("") }
  }

  /// Writes a rejected row. If its header differs from the header of the last row, the header is written
  /// before the row.
  func add(_ rejection: Rejection, header: String?) throws {
    guard !rejection.source.isEmpty else { return missing += 1 }
    // If two items of a row are rejected, the row is written only once.
    if let last, last.line == rejection.line, last.source == rejection.source { return }
    last = rejection
    if let header, header != self.header {
      self.header = header
      try write(header)
    }
    try write(rejection.source)
  }

  /// Writes the buffered rows and closes the file.
  func close() throws {
    guard case .file(let file, let path) = destination else { return }
    guard fclose(file) == 0 else { throw Self.cannotWrite(path) }
  }

  private func write(_ line: String) throws {
    switch destination {
    case .output(let output): output.line(Host.isTerminal(STDOUT_FILENO) ? displayed(line) : line)
    case .file(let file, let path):
      guard fputs(line + "\n", file) >= 0 else { throw Self.cannotWrite(path) }
    }
  }
}

extension RejectsFile {
  /// Whether the last line of the present content has a line end.
  private enum LastLine { case ended, open }

  /// Opens the file for writing. A named pipe is opened only for writing, and only if a program reads it. If
  /// it were also opened for reading, the rows would stay in it and be lost.
  private static func open(_ path: String, appends: Bool) throws -> Int32 {
    var status = stat()
    let isPipe = stat(PathText.bytes(path), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    let flags =
      isPipe ? O_WRONLY | O_NONBLOCK : O_CREAT | O_APPEND | (appends ? O_RDWR : O_WRONLY)
    let descriptor = Glibc.open(PathText.bytes(path), flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason =
        isPipe && errno == ENXIO
        ? "no program reads this pipe; start that one first" : String(cString: strerror(errno))
      throw cannotCreate(path, reason)
    }
    // Without `O_NONBLOCK`, each write waits until a slow reader has read the rows.
    if isPipe { _ = fcntl(descriptor, F_SETFL, O_WRONLY) }
    return descriptor
  }

  /// Refuses a file with content if `appends` is false. Then limits the access to the owner, since other
  /// users may be able to read an existing file. Returns whether the last line of the file has ended.
  private static func prepare(_ descriptor: Int32, _ path: String, appends: Bool) throws -> LastLine {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw cannotCreate(path, String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT == S_IFREG else { return .ended }
    guard appends || status.st_size == 0 else {
      throw cannotCreate(
        path, "File exists and is not empty; choose another file, or use --rejects-append")
    }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw cannotCreate(path, String(cString: strerror(errno)))
    }
    var last: UInt8 = 0x0A
    guard status.st_size == 0 || pread(descriptor, &last, 1, status.st_size - 1) == 1 else {
      throw cannotCreate(path, String(cString: strerror(errno)))
    }
    return last == 0x0A ? .ended : .open
  }

  private static func cannotCreate(_ path: String, _ reason: String) -> Failure {
    Failure(.cannotCreate, "\(path): cannot create the file for rejected rows: \(reason)")
  }

  private static func cannotWrite(_ path: String) -> Failure {
    Failure(.inputOutput, "\(path): cannot write rejected rows: \(String(cString: strerror(errno)))")
  }
}
