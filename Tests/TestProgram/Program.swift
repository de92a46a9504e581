// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc
package import Subprocess
import Testing

/// The built binary in a temporary folder, which is its home and data folder, and is removed with this value.
package final class Program: Sendable {
  /// The result of a run of the binary.
  package struct Outcome: Sendable {
    /// The exit status, as a shell reports it: 128 plus the signal's number for a process that a signal
    /// ended.
    package let status: Int32
    package let output: String
    package let errors: String
    package let seconds: Double

    /// The objects of `--json`, one for each line.
    package func objects() throws -> [[String: any Sendable]] {
      try output.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return try #require(object as? [String: any Sendable])
      }
    }
  }

  private struct TimeLimitExceeded: Error {
    let arguments: [String]
  }

  /// The binary is next to the test program, in the package's folder of products.
  private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().path

  /// The time limit of a run, unless a test sets it. Sanitizers and busy machines are slow.
  package static let timeLimit = Duration.seconds(90)
  private static let outputLimit = 64 << 20

  package let folder: URL

  /// Makes this process ignore SIGPIPE, since a binary that refuses its input closes the pipe while the test
  /// still writes. The binary itself handles the signal as usual.
  private static let ignoresClosedPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  package init() throws {
    Self.ignoresClosedPipes
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-run-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // A folder that remains in the temporary folder does not affect a test.
    }
  }

  /// The default path of the binary's store.
  package var store: String { path("data/glucoport/logbook.db") }

  package func path(_ name: String) -> String { folder.appending(path: name).path }

  /// Writes a file into the folder and returns its path.
  @discardableResult
  package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
    try Data(bytes).write(to: folder.appending(path: name))
    return path(name)
  }

  @discardableResult
  package func write(_ text: String, to name: String) throws -> String { try write(text.utf8, to: name) }

  package func run(
    _ arguments: String..., input: [UInt8] = [], environment: [String: String] = [:],
    within limit: Duration = timeLimit
  ) async throws -> Outcome {
    try await run("glucoport", arguments, input: input, environment: environment, within: limit)
  }

  package func run(
    _ arguments: String..., input: String, within limit: Duration = timeLimit
  ) async throws -> Outcome {
    try await run("glucoport", arguments, input: Array(input.utf8), environment: [:], within: limit)
  }

  package func run(
    arguments: [String], input: [UInt8] = [], environment: [String: String] = [:],
    within limit: Duration = timeLimit
  ) async throws -> Outcome {
    try await run("glucoport", arguments, input: input, environment: environment, within: limit)
  }

  /// Runs the binary with the words of a line, and checks its exit status.
  @discardableResult
  package func run(line: String, status: Int32 = 0) async throws -> Outcome {
    let outcome = try await run(arguments: line.split(separator: " ").map(String.init))
    #expect(outcome.status == status, "\(line): \(outcome.status) \(outcome.output)\(outcome.errors)")
    return outcome
  }

  /// Runs a script of bash in the folder.
  package func shell(_ script: String, within limit: Duration = timeLimit) async throws -> Outcome {
    try await run(
      "bash", ["-c", "cd \"$HOME\" || exit; " + script], input: [], environment: [:], within: limit)
  }

  /// Runs the binary without root's permission to read and write everything.
  package func runUnprivileged(
    _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> Outcome {
    try await runUnprivileged(arguments: arguments, environment: environment)
  }

  package func runUnprivileged(
    arguments: [String], environment: [String: String] = [:]
  ) async throws -> Outcome {
    let isRoot = geteuid() == 0
    let prefix = isRoot ? ["--bounding-set", "-dac_override,-dac_read_search", "glucoport"] : []
    return try await run(
      isRoot ? "setpriv" : "glucoport", prefix + arguments, input: [], environment: environment,
      within: Self.timeLimit)
  }

  /// Runs the binary with a standard input that stays open while the closure works.
  package func run<Value: Sendable>(
    _ arguments: String..., environment: [String: String] = [:],
    while body:
      @escaping @Sendable (_ process: Execution<CustomWriteInput, BytesOutput, BytesOutput>)
      async throws -> Value
  ) async throws -> (outcome: Outcome, value: Value) {
    let configuration = configuration("glucoport", arguments, environment)
    return try await limited(Self.timeLimit, arguments) {
      let start = ContinuousClock.now
      let result = try await Subprocess.run(
        configuration, input: .inputWriter, output: .bytes(limit: Self.outputLimit),
        error: .bytes(limit: Self.outputLimit)
      ) { try await body($0) }
      let outcome = Self.outcome(
        result.terminationStatus, result.standardOutput, result.standardError, since: start)
      return (outcome, result.closureResult)
    }
  }

  private func run(
    _ executable: String, _ arguments: [String], input: [UInt8], environment: [String: String],
    within limit: Duration
  ) async throws -> Outcome {
    let configuration = configuration(executable, arguments, environment)
    return try await limited(limit, arguments) {
      let start = ContinuousClock.now
      let result = try await Subprocess.run(
        configuration, input: .inputWriter, output: .bytes(limit: Self.outputLimit),
        error: .bytes(limit: Self.outputLimit)
      ) { process in
        do {
          _ = try await process.standardInputWriter.write(input)
        } catch is SubprocessError {
          // A process that refuses its input ends before it has read all of it. The exit status shows the
          // reason.
        }
        try await process.standardInputWriter.finish()
      }
      return Self.outcome(
        result.terminationStatus, result.standardOutput, result.standardError, since: start)
    }
  }

  private func configuration(
    _ executable: String, _ arguments: [String], _ environment: [String: String]
  ) -> Configuration {
    var variables: [Environment.Key: String] = [
      "HOME": folder.path, "XDG_DATA_HOME": path("data"), "TMPDIR": folder.path,
      "PATH": Self.products + ":/usr/bin:/bin",
      // The zone of the test machine must not affect the tests.
      "GLUCOPORT_TIMEZONE": "UTC",
    ]
    for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
    return Configuration(
      executable: .name(executable), arguments: Arguments(arguments), environment: .custom(variables))
  }

  private static func outcome(
    _ status: TerminationStatus, _ output: [UInt8], _ errors: [UInt8], since start: ContinuousClock.Instant
  ) -> Outcome {
    let number =
      switch status {
      case .exited(let code): code
      case .signaled(let signal): 128 + signal
      }
    return Outcome(
      status: number, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self), seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  /// Ends the work and its process when the time limit is exceeded.
  private func limited<Value: Sendable>(
    _ limit: Duration, _ arguments: [String], _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask(operation: work)
      group.addTask {
        try await Task.sleep(for: limit)
        throw TimeLimitExceeded(arguments: arguments)
      }
      defer { group.cancelAll() }
      return try #require(try await group.next())
    }
  }
}

/// Checks every few milliseconds whether the condition is true; false if it is not in time. The interval
/// leaves the processor to the process that is waited for.
package func eventually(
  within limit: Duration, _ condition: () async throws -> Bool
) async throws -> Bool {
  let start = ContinuousClock.now
  while ContinuousClock.now - start < limit {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(2))
  }
  return false
}
