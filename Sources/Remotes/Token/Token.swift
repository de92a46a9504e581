// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Subprocess

/// The secret of a login. It is not part of any message, log or dump.
package struct Token: Sendable {
  static let longestLength = 4096

  /// The secret. Only requests may contain it.
  let text: String

  /// Reads the secret from the first line of a file or output.
  ///
  /// - Parameter origin: the name of the file or command, for messages.
  /// - Throws: `Failure` of category `configuration` for an impossible token. Its message contains no part of
  ///   the token.
  package init(firstLineOf bytes: [UInt8], origin: String) throws(Failure) {
    let line = bytes.prefix { $0 != 0x0A && $0 != 0x0D }
    let end = line.lastIndex { !Self.isBlank($0) }.map { $0 + 1 } ?? line.startIndex
    let trimmed = line[..<end].drop(while: Self.isBlank)
    guard !trimmed.isEmpty else {
      throw Failure(.configuration, "\(origin): its first line is empty, but must be the token")
    }
    guard trimmed.count <= Self.longestLength, trimmed.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw Failure(
        .configuration,
        "\(origin): its first line is not a token; a token has up to \(Self.longestLength) visible ASCII characters without blanks"
      )
    }
    text = String(decoding: trimmed, as: UTF8.self)
  }

  /// An empty secret, for a server that requires none.
  static let none = Token()

  private init() { text = "" }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// A short digest by which a later run recognises the same secret. Its 16 bits are far too few to derive
  /// the secret, even a short one that a person chose.
  ///
  /// - Parameter salt: a text of the store, so that the marks of equal secrets differ between stores.
  package func mark(salt: String) -> String {
    String(Digest.uuid(of: ["token", salt, text]).prefix(4))
  }

  /// The text, with this secret replaced.
  func redacted(_ text: String) -> String {
    self.text.isEmpty ? text : text.replacing(self.text, with: "…")
  }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text without the secret.
  package var description: String { "token" }
  /// A text without the secret.
  package var debugDescription: String { description }
  /// An empty mirror, since dumps would otherwise print the secret.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension TokenSource {
  /// The maximum number of bytes that are read from a file or a command.
  static let maxBytes = 16 << 10

  /// The default of the time limit for a command.
  package static let longestWait = Duration.seconds(30)

  /// Reads the token for a request that must end at this time.
  ///
  /// - Throws: `Failure`, as `token(within:)`.
  package func token(until end: ContinuousClock.Instant) async throws(Failure) -> Token {
    try await token(within: min(Self.longestWait, end - .now))
  }

  /// Reads the token.
  ///
  /// - Parameter limit: the time limit for a command.
  /// - Throws: `Failure`: `missingInput` if the file does not exist, `permission` for a file that others can
  ///   read and for a command that fails. `temporary` after the time limit, `configuration` for an invalid
  ///   token.
  package func token(within limit: Duration = longestWait) async throws(Failure) -> Token {
    switch self {
    case .file(let path):
      try Token(
        firstLineOf: RemoteFile.secret(path, as: "token file"), origin: "\(path): the token file")
    case .command(let command):
      try Token(
        firstLineOf: await TokenCommand.run(command, within: limit), origin: "the output of the token command"
      )
    }
  }
}

/// Runs a command that prints a token. A shell runs it without input. Its standard error output goes to that
/// of this program.
///
/// The command stays in this program's process group. So a password prompt can use the terminal, and Ctrl-C
/// ends both.
private enum TokenCommand {
  static func run(_ command: String, within limit: Duration) async throws(Failure) -> [UInt8] {
    let result = await withTaskGroup(of: Result<[UInt8], Failure>.self) { group in
      group.addTask { await output(of: command) }
      group.addTask { await failure(after: limit) }
      // Either the command or the time limit ends first. The other task is cancelled, and a command that
      // still runs is killed.
      defer { group.cancelAll() }
      return await group.next() ?? .failure(late)
    }
    return try result.get()
  }

  private static func output(of command: String) async -> Result<[UInt8], Failure> {
    do {
      // The path of the shell is fixed, whatever the variable PATH contains.
      let shell = try await Executable.name("sh").resolveExecutablePath(in: .custom(["PATH": "/bin"]))
      let result = try await Subprocess.run(
        .path(shell), arguments: ["-c", command], output: .bytes(limit: TokenSource.maxBytes),
        error: .currentStandardError)
      let words =
        switch result.terminationStatus {
        case .exited(let status) where status == 0: ""
        case .exited(let status): "status \(status)"
        case .signaled(let signal): "signal \(signal)"
        }
      guard words.isEmpty else {
        return .failure(Failure(.permission, "the token command failed: it ended with \(words)"))
      }
      return .success(result.standardOutput)
    } catch let error as SubprocessError where error.code == .outputLimitExceeded {
      return .failure(
        Failure(
          .configuration,
          "the token command printed more than \(TokenSource.maxBytes) bytes"))
    } catch  where Task.isCancelled {
      return .failure(interrupted)
    } catch {
      return .failure(Failure(.inputOutput, "the token command cannot be run: \(error)"))
    }
  }

  private static let late = Failure(
    .temporary, "the token command took too long and was stopped; does it wait for input?")

  /// The failure if the run was interrupted. If the command ends first, the cancelled task for the time limit
  /// returns this failure, too, but that result is ignored.
  private static let interrupted = Failure(.temporary, "the token command was interrupted")

  /// Waits for the time limit, then returns the failure. It may be late if other work blocks the threads that
  /// all tasks share. A timer would be late, too, since the caller continues on these threads. This program
  /// itself never blocks these threads.
  private static func failure(after limit: Duration) async -> Result<[UInt8], Failure> {
    do {
      try await Task.sleep(for: limit)
      return .failure(late)
    } catch {
      return .failure(interrupted)
    }
  }
}
