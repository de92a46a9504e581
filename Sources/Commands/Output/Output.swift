// SPDX-License-Identifier: Apache-2.0

import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The reader of standard output has left.
struct ReaderLeft: Error {}

/// The one place that writes to standard output and standard error.
final class Output {
  private static let bufferSize = 64 * 1024

  /// The person of whom a command that goes over several ones speaks.
  @TaskLocal static var subject: String?

  private var buffer: [UInt8] = []
  private var failure: Failure?
  private var hasReaderLeft = false

  /// A result on standard output.
  func line(_ text: String) {
    write(text)
    buffer.append(0x0A)
  }

  /// A result on standard output without a line end.
  func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// A result on standard output as one line of JSON.
  ///
  /// - Throws: `EncodingError` for what JSON cannot hold.
  func json(_ value: some Encodable) throws { line(TerminalText.json(try OrderedJSON.text(value))) }

  /// A result on standard output: one JSON object, or lines for people.
  ///
  /// - Throws: `EncodingError` for what JSON cannot hold, and what the arguments throw.
  func result(
    asJSON: Bool, _ object: @autoclosure () throws -> some Encodable,
    orLines lines: @autoclosure () throws -> [String]
  ) throws {
    if asJSON { return try json(object()) }
    for text in try lines() { line(text) }
  }

  /// Text on standard output in its bytes.
  func write(_ bytes: [UInt8]) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// A result on standard output that is no text.
  func bytes(_ bytes: UnsafeRawBufferPointer) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// A message on standard error, behind the results so far. Here nothing of it is left that a terminal would obey, whoever
  /// gave the names and reasons in it.
  func message(_ text: String) {
    flush()
    let program = "glucoport: "
    let named =
      Self.subject.map { name in
        text.hasPrefix(program) ? "\(program)\(name): \(text.dropFirst(program.count))" : text
      } ?? text
    send(Array((TerminalText.lines(named) + "\n").utf8), to: STDERR_FILENO)
  }

  /// Rewrites the last line of a terminal's standard error, cut to its width: only the last line can be rewritten.
  func progress(_ text: String) {
    let line = fitting(TerminalText.line(text), columns: Host.terminalColumns(STDERR_FILENO))
    send(Array(("\r\u{1B}[K" + line).utf8), to: STDERR_FILENO)
  }

  /// Ends work whose results nobody reads any more, as behind 'head': quietly, since that is no failure.
  ///
  /// - Throws: `ReaderLeft`.
  func checkReader() throws {
    if hasReaderLeft { throw ReaderLeft() }
  }

  /// Passes on what is buffered; false when nobody takes it any more.
  func pass() -> Bool {
    flush()
    return !hasReaderLeft && failure == nil
  }

  /// Writes what is buffered.
  ///
  /// - Throws: `Failure` when standard output could not be written, such as on a full disk.
  func finish() throws {
    flush()
    if let failure { throw failure }
  }

  private func flush() {
    // A reader that has left, as 'head' does, wants no more, and is no failure.
    if failure == nil, !send(buffer, to: STDOUT_FILENO) {
      if errno == EPIPE {
        hasReaderLeft = true
      } else {
        failure = Failure(
          .inputOutput, "cannot write to standard output: \(String(cString: strerror(errno)))")
      }
    }
    buffer.removeAll(keepingCapacity: true)
  }

  @discardableResult
  private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
}

/// Text that stays below so many columns of a terminal, with a mark where it is cut: a terminal may begin another line
/// behind its last column. From U+1100 on characters are taken for wide ones, so that a line may only turn out short.
func fitting(_ text: String, columns: Int) -> String {
  let width = { (character: Character) in
    character.unicodeScalars.contains { $0.value >= 0x1100 && $0 != "…" } ? 2 : 1
  }
  var (used, cut, end) = (0, text.startIndex, text.startIndex)
  while end < text.endIndex {
    used += width(text[end])
    end = text.index(after: end)
    if used > columns - 1 { return text[..<cut] + "…" }
    if used < columns - 1 { cut = end }
  }
  return text
}
