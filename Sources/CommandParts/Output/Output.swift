// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The reader of standard output has left.
package struct OutputClosed: Error {}

/// The only code that writes to standard output and standard error.
package final class Output {
  private static let bufferSize = 64 * 1024
  /// What the messages of the program begin with.
  private static let program = "glucoport: "

  /// The person for whom a command runs, if it runs for several.
  @TaskLocal package static var subject: String?
  /// Whether failures are printed as JSON, since the arguments have `--json`.
  @TaskLocal package static var printsFailuresAsJSON = false

  private var buffer: [UInt8] = []
  private var failure: Failure?
  private var hasReaderLeft = false

  /// The output of this process, with nothing written yet.
  package init() {}

  /// Writes a result to standard output, with a line end.
  package func line(_ text: String) {
    write(text)
    buffer.append(0x0A)
  }

  /// Writes a result to standard output, without a line end.
  package func write(_ text: String) {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// Writes a result to standard output as one line of JSON.
  ///
  /// - Throws: `EncodingError` for values that JSON cannot represent.
  package func json(_ value: some Encodable) throws { line(TerminalText.json(try OrderedJSON.text(value))) }

  /// Writes a result to standard output: one JSON object, or lines of text.
  ///
  /// - Throws: `EncodingError` for values that JSON cannot represent, and errors of the arguments.
  package func result(
    asJSON: Bool, _ object: @autoclosure () throws -> some Encodable,
    orLines lines: @autoclosure () throws -> [String]
  ) throws {
    if asJSON { return try json(object()) }
    for text in try lines() { line(text) }
  }

  /// Writes the bytes of a text to standard output.
  package func write(_ bytes: [UInt8]) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// Writes a result that is not text to standard output.
  package func bytes(_ bytes: UnsafeRawBufferPointer) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// Writes a message to standard error, after the results so far. Control sequences for terminals are
  /// removed from it, since names and reasons in it may come from anywhere.
  package func message(_ text: String) {
    flush()
    send(Array((TerminalText.lines(Self.named(text)) + "\n").utf8), to: STDERR_FILENO)
  }

  /// A message with the person of whom it is.
  private static func named(_ text: String) -> String {
    guard let subject, text.hasPrefix(program) else { return text }
    return "\(program)\(subject): \(text.dropFirst(program.count))"
  }

  /// A failure on standard error: its message, or with `--json` one object that glucoport-json(5) documents.
  ///
  /// - Parameters:
  ///   - text: the message, with the name of the program before it or not.
  ///   - status: the exit status that the failure leads to.
  ///   - hint: what to do next, for a message that does not contain it.
  package func failure(_ text: String, _ status: ExitStatus, hint: String? = nil) {
    guard Self.printsFailuresAsJSON else { return message(text) }
    flush()
    let sentence = TerminalText.lines(String(Self.named(text).trimmingPrefix(Self.program)))
    let object = FailureObject(
      error: sentence, status: status.rawValue, hint: FailureObject.advice(in: sentence) ?? hint)
    do {
      send(Array((TerminalText.json(try OrderedJSON.text(object)) + "\n").utf8), to: STDERR_FILENO)
    } catch {
      message(text)
    }
  }

  /// Rewrites the last line of standard error on a terminal. It is truncated to the width, since only one
  /// line can be rewritten.
  package func progress(_ text: String) {
    let line = fitting(TerminalText.line(text), columns: Host.terminalColumns(STDERR_FILENO))
    send(Array(("\r\u{1B}[K" + line).utf8), to: STDERR_FILENO)
  }

  /// Ends work whose results nothing reads any more, for example with 'head'. This is not a failure, and prints
  /// nothing.
  ///
  /// - Throws: `OutputClosed`.
  package func checkReader() throws {
    if hasReaderLeft { throw OutputClosed() }
  }

  /// Writes the buffered results; false if nothing reads them any more.
  package func pass() -> Bool {
    flush()
    return !hasReaderLeft && failure == nil
  }

  /// Writes the buffered results.
  ///
  /// - Throws: `Failure` if standard output could not be written, for example on a full disk.
  package func finish() throws {
    flush()
    if let failure { throw failure }
  }

  private func flush() {
    // A reader that closed the pipe, such as 'head', needs no more. This is not a failure.
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
      let count = uninterrupted {
        bytes[sent...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      }
      if count <= 0 { return false }
      sent += count
    }
    return true
  }
}

/// A failure as commands with `--json` print it; glucoport-json(5) documents its members.
private struct FailureObject: Encodable {
  let error: String
  let status: Int32
  let hint: String?

  /// What a message says to do next: it is after the first semicolon. Nil for a message without such a part.
  static func advice(in message: String) -> String? {
    let parts = message.split(separator: "; ").dropFirst()
    // Such a part says what became of the work.
    let outcomes = ["nothing was ", "everything ", "the conflict is not ", "there is nothing to "]
    let advice = parts.filter { part in !outcomes.contains(where: part.hasPrefix) }
    return advice.isEmpty ? nil : advice.joined(separator: "; ")
  }
}

/// Text with fewer columns than a terminal, with a mark where it is cut: a terminal may begin another line after its last
/// column. Characters from U+1100 on count as wide ones, so that a line may only be too short.
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

/// A question on the terminal before an action that a person may not intend.
package enum Confirmation {
  /// Whether a person can answer.
  package static var canAsk: Bool { Host.isTerminal(0) }

  /// Asks, and reads one line; only `y` and `yes` confirm.
  ///
  /// - Throws: `Failure` of category `usage` for any other answer.
  package static func require(_ question: String, otherwise nothing: String, _ output: Output) throws {
    output.message("\(question) [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.usage, "not confirmed; \(nothing)")
    }
  }
}
