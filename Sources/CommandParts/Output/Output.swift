// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// Thrown when the reader of standard output, such as `head`, has closed the pipe.
package struct OutputClosed: Error {}

/// Standard output and standard error of the program. No other code writes to them.
package final class Output {
  private static let bufferSize = 64 * 1024
  /// The words with which each message of the program begins.
  private static let program = "glucoport: "

  /// The name of the person for whom the command runs, if it runs for several persons. Messages contain the
  /// name.
  @TaskLocal package static var subject: String?
  /// Whether failures are printed as JSON objects, because the arguments contain `--json`.
  @TaskLocal package static var printsFailuresAsJSON = false

  private var buffer: [UInt8] = []
  private var failure: Failure?
  private var isOutputClosed = false

  /// The output of this process, with an empty buffer.
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
  /// - Throws: `EncodingError` if JSON cannot represent the value.
  package func json(_ value: some Encodable) throws { line(TerminalText.json(try OrderedJSON.text(value))) }

  /// Writes a result to standard output, either as one JSON object or as lines of text.
  ///
  /// - Throws: `EncodingError` if JSON cannot represent the object; errors of the two arguments.
  package func result(
    asJSON: Bool, _ object: @autoclosure () throws -> some Encodable,
    orLines lines: @autoclosure () throws -> [String]
  ) throws {
    if asJSON { return try json(object()) }
    for text in try lines() { line(text) }
  }

  /// Writes the bytes of a text, or of a result such as a PDF, to standard output, unchanged.
  package func write(_ bytes: some Collection<UInt8>) {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { flush() }
  }

  /// Writes the buffered results, and then a message to standard error. Control sequences for terminals are
  /// removed from the message, since it may contain names and reasons from any source.
  package func message(_ text: String) {
    flush()
    send(Array((TerminalText.lines(Self.named(text)) + "\n").utf8), to: STDERR_FILENO)
  }

  /// Inserts the name of the person into a message, if the command runs for several persons.
  private static func named(_ text: String) -> String {
    guard let subject, text.hasPrefix(program) else { return text }
    return "\(program)\(subject): \(text.dropFirst(program.count))"
  }

  /// Prints a failure on standard error: its message, or with `--json` the object that glucoport-json(5)
  /// documents.
  ///
  /// - Parameters:
  ///   - text: the message, with or without the name of the program at its start.
  ///   - status: the exit status that the failure leads to.
  ///   - hint: what a person can do next; nil if the message contains it.
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

  /// Replaces the last line of a terminal at standard error. The text is shortened to the width of the
  /// terminal, since only one line can be replaced.
  package func progress(_ text: String) {
    let line = fitting(TerminalText.line(text), columns: Host.terminalColumns(STDERR_FILENO))
    send(Array(("\r\u{1B}[K" + line).utf8), to: STDERR_FILENO)
  }

  /// Stops a command whose output is not read any more, for example since `head` has ended. This is not a
  /// failure, so nothing is printed.
  ///
  /// - Throws: `OutputClosed` if the reader of standard output has closed the pipe.
  package func requireOpenOutput() throws {
    if isOutputClosed { throw OutputClosed() }
  }

  /// Writes the buffered results. Returns false if they could not be written.
  package func writeBuffer() -> Bool {
    flush()
    return !isOutputClosed && failure == nil
  }

  /// Writes the buffered results.
  ///
  /// - Throws: `Failure` if a write to standard output has failed, for example on a full disk.
  package func finish() throws {
    flush()
    if let failure { throw failure }
  }

  private func flush() {
    // A reader that closed the pipe, such as `head`, needs no more output. This is not a failure.
    if failure == nil, !send(buffer, to: STDOUT_FILENO) {
      if errno == EPIPE {
        isOutputClosed = true
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

/// A failure in the output of commands with `--json`; glucoport-json(5) documents the members.
private struct FailureObject: Encodable {
  let error: String
  let status: Int32
  let hint: String?

  /// The part of a message after its first semicolon: what to do next. It is nil if the message
  /// has no such part.
  static func advice(in message: String) -> String? {
    let parts = message.split(separator: "; ").dropFirst()
    // Parts with these words describe the state after the failure, and give no advice.
    let outcomes = ["nothing was ", "everything ", "the conflict is not ", "there is nothing to "]
    let advice = parts.filter { part in !outcomes.contains(where: part.hasPrefix) }
    return advice.isEmpty ? nil : advice.joined(separator: "; ")
  }
}

/// Shortens a text to fewer columns than a terminal has, with `…` at the end. A line of full width would make
/// some terminals begin another line. Each character from U+1100 on counts as two columns, so the text is
/// never too wide.
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

/// The question that a command asks before an action that a person may not intend.
package enum Confirmation {
  /// Whether standard input is a terminal, at which a person can answer.
  package static var canAsk: Bool { Host.isTerminal(0) }

  /// Prints the question and reads one line. Only `y` and `yes` confirm the action.
  ///
  /// - Throws: `Failure` of category `usage` for any other answer. Its message ends with `nothing`.
  package static func require(_ question: String, otherwise nothing: String, _ output: Output) throws {
    output.message("\(question) [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw Failure(.usage, "not confirmed; \(nothing)")
    }
  }
}
