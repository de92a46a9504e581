// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Logbook

/// The file of `--rejects`: rejected rows as they were in the input, under their header, so that they can be mended and imported.
final class RejectsFile {
  /// The name of standard output.
  static let standardOutput = "-"

  private enum Destination {
    case output(Output)
    case file(UnsafeMutablePointer<FILE>, path: String)
  }

  private let destination: Destination
  private var header: String?
  private var last: Rejection?
  /// The number of rejected items that are not in it, since their rows are unknown or too long.
  private(set) var missing = 0

  /// Rejected rows on standard output.
  init(_ output: Output) { destination = .output(output) }

  /// A new file, or an empty one such as `mktemp` creates.
  ///
  /// - Parameters:
  ///   - appends: whether rows are added to the existing content.
  ///   - protected: files that must not be written.
  /// - Throws: `Failure` of category `cannotCreate`, also for a file with content unless `appends` is set;
  ///   `usage` for a protected one.
  package init(path: String, appends: Bool, apartFrom protected: ProtectedFiles) throws {
    try protected.refuse(path)
    let descriptor = try Self.open(path, appends: appends)
    let lastLine: LastLine
    do {
      // Checked again, since opening may have created the file that will be the store.
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

  /// Writes a rejected row, under its header.
  func add(_ rejection: Rejection, header: String?) throws {
    guard !rejection.source.isEmpty else { return missing += 1 }
    // A row with two rejected items is written only once.
    if let last, last.line == rejection.line, last.source == rejection.source { return }
    last = rejection
    if let header, header != self.header {
      self.header = header
      try write(header)
    }
    try write(rejection.source)
  }

  /// Writes the buffered rows.
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
  /// Whether the last line of a file has a line end.
  private enum LastLine { case ended, open }

  /// Opens the file for writing. A named pipe is opened only for that, and without waiting for a program that reads it.
  /// Opened for reading as well, it would take the rows and lose them when it is closed.
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
    // Rows wait for a slow reader.
    if isPipe { _ = fcntl(descriptor, F_SETFL, O_WRONLY) }
    return descriptor
  }

  /// Refuses a file with content unless `appends` is set. Makes the file accessible only to its owner, since
  /// an existing one may be readable for others.
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
