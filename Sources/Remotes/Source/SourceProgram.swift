// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import Subprocess

/// Runs the program of a source, without a shell and without input. Its output is the answer of the source.
package enum SourceProgram {
  /// How a program has ended.
  package struct Ending: Sendable {
    /// The reason, `status 3` or `signal 9`; nil for success.
    package let failure: String?
    /// The exit status; nil if a signal ended it.
    package let exitStatus: Int32?
    /// The last line of the program's standard error, of limited length and without control characters; empty
    /// if there is none.
    package let lastLine: String
  }

  private static let maxErrorBytes = 4096
  private static let maxLineLength = 200

  /// Runs a program until it ends. After the time limit, or if it prints too much, its whole process group is
  /// killed. This includes the programs that it started, except those that began another session.
  ///
  /// - Parameters:
  ///   - words: the path of the program and its arguments.
  ///   - isInterrupted: polled while the program runs; true ends the program.
  ///   - write: receives the program's standard output piece by piece.
  /// - Throws: `Failure`: `temporary` after the time limit, `protocolViolation` for too much output,
  ///   `missingInput` or `permission` if it cannot be started.
  package static func run(
    _ words: [String], within limit: Duration, maxBytes: Int,
    isInterrupted: @escaping @Sendable () -> Bool,
    write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> Ending {
    guard let path = words.first else { throw Failure(.configuration, "the source has no command") }
    var options = PlatformOptions()
    // The program gets a separate process group, so that programs it started can be killed, too.
    options.processGroupID = 0
    options.teardownSequence = teardown
    do {
      // The path of the folder is stated, so that the variable PATH is not searched.
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      let folder = parts.dropLast().joined(separator: "/")
      let program = try await Executable.name(String(parts.last ?? "")).resolveExecutablePath(
        in: .custom(["PATH": folder.isEmpty ? "/" : folder]))
      let result = try await Subprocess.run(
        .path(program), arguments: Arguments(Array(words.dropFirst())), platformOptions: options,
        input: .none, output: .sequence, error: .sequence
      ) { execution in
        do {
          let line = try await collect(execution, limit, maxBytes, isInterrupted, write)
          // The group is killed before the exit status of the program is read. Until the status is read, no
          // other group can get the same number.
          end(execution)
          return line
        } catch {
          await execution.teardown(using: teardown)
          end(execution)
          throw error
        }
      }
      let (failure, status): (String?, Int32?) =
        switch result.terminationStatus {
        case .exited(let status): (status == 0 ? nil : "status \(status)", status)
        case .signaled(let signal): ("signal \(signal)", nil)
        }
      return Ending(failure: failure, exitStatus: status, lastLine: result.closureResult)
    } catch let failure as Failure {
      throw failure
    } catch let error as SubprocessError where error.code == .executableNotFound {
      if access(path, F_OK) == 0 {
        throw Failure(.permission, "\(path): the program is not executable; run: chmod +x \(path.shellWord)")
      }
      throw Failure(.missingInput, "\(path): No such program")
    } catch is SubprocessError {
      throw Failure(.permission, "\(path): the program cannot be started; is it executable?")
    }
  }

  private static let teardown: [TeardownStep] = [
    .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1)),
    .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .milliseconds(200)),
  ]

  /// Kills the program of the source and all programs that it started. These may still run after it has
  /// ended.
  private static func end(_ execution: Execution<NoInput, SequenceOutput, SequenceOutput>) {
    kill(-execution.processIdentifier.value, SIGKILL)
  }

  /// Whether a child process has ended, according to `/proc`. Its exit status is not read here, since
  /// `Subprocess` reads it.
  private static func hasEnded(_ process: Int32) -> Bool {
    do {
      let line = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      // The process state is after the name, which is in parentheses and may itself contain parentheses.
      let state = line.split(separator: ")").last?.first { $0 != " " }
      return state == "Z" || state == "X"
    } catch {
      // Only a process that is gone has ended. With another error, such as too many open files, it may run.
      return kill(process, 0) != 0 && errno == ESRCH
    }
  }

  /// Reads standard output and standard error until the program closes them, and waits until the program has
  /// ended. Returns the last line of standard error.
  private static func collect(
    _ execution: Execution<NoInput, SequenceOutput, SequenceOutput>, _ limit: Duration, _ maxBytes: Int,
    _ isInterrupted: @escaping @Sendable () -> Bool,
    _ write: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) async throws -> String {
    try await withThrowingTaskGroup(of: OutputPart.self) { group in
      group.addTask {
        var count = 0
        for try await piece in execution.standardOutput {
          count += piece.count
          guard count <= maxBytes else {
            throw Failure(.protocolViolation, "the command printed more than \(maxBytes) bytes")
          }
          try piece.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws(any Error) in try write(bytes) }
        }
        return .output
      }
      group.addTask {
        var tail: [UInt8] = []
        for try await piece in execution.standardError {
          piece.withUnsafeBytes { tail += $0 }
          if tail.count > maxErrorBytes { tail.removeFirst(tail.count - maxErrorBytes) }
        }
        return .errors(lastLine(tail))
      }
      // A program may close its outputs and continue to run, so its end is waited for separately.
      let process = execution.processIdentifier.value
      group.addTask {
        while !hasEnded(process) { try await Task.sleep(for: .milliseconds(20)) }
        return .end
      }
      group.addTask {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
          try await Task.sleep(for: .milliseconds(100))
          if isInterrupted() { throw Failure(.temporary, "the command was interrupted") }
        }
        throw Failure(.temporary, "the command took longer than \(limit.components.seconds) s and was ended")
      }
      defer { group.cancelAll() }
      var (line, open) = ("", 3)
      while open > 0, let part = try await group.next() {
        open -= 1
        if case .errors(let text) = part { line = text }
      }
      return line
    }
  }

  private enum OutputPart: Sendable {
    case output
    case errors(String)
    case end
  }

  private static func lastLine(_ bytes: [UInt8]) -> String {
    let line = bytes.split { $0 == 0x0A || $0 == 0x0D }.last { line in line.contains { $0 > 0x20 } } ?? []
    let scalars = String(decoding: line, as: UTF8.self).unicodeScalars.map { scalar -> Unicode.Scalar in
      scalar.properties.generalCategory == .control ? " " : scalar
    }
    return String(String.UnicodeScalarView(scalars.prefix(maxLineLength)))
  }
}
