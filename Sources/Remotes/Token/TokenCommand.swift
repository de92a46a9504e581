// SPDX-License-Identifier: Apache-2.0

import Logbook
import Subprocess

/// A command that prints a token. The shell runs it without input; its standard error is the program's own.
///
/// The child stays in the program's process group, so that a password prompt may use the terminal and Ctrl-C ends both.
enum TokenCommand {
  static func run(_ command: String, within limit: Duration) async throws(Failure) -> [UInt8] {
    let result = await withTaskGroup(of: Result<[UInt8], Failure>.self) { group in
      group.addTask { await output(of: command) }
      group.addTask { await failure(after: limit) }
      // The slower task is cancelled. Cancelling kills the command and collects its exit status.
      defer { group.cancelAll() }
      return await group.next() ?? .failure(late)
    }
    return try result.get()
  }

  private static func output(of command: String) async -> Result<[UInt8], Failure> {
    do {
      // The system's shell, independent of the variable PATH.
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

  /// The run was interrupted, or the command ended first and this result is unused.
  private static let interrupted = Failure(.temporary, "the token command was interrupted")

  /// The time limit. It is late while other work blocks the threads that all tasks share. A timer elsewhere would not
  /// help, since the caller continues on the same threads. In the program nothing blocks them.
  private static func failure(after limit: Duration) async -> Result<[UInt8], Failure> {
    do {
      try await Task.sleep(for: limit)
      return .failure(late)
    } catch {
      return .failure(interrupted)
    }
  }
}
