// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command that prints a token, run by the shell without input; its standard error is the program's own.
///
/// The child stays in the program's process group, so that a password prompt may use the terminal and Ctrl-C ends both.
/// `posix_spawn` and one `poll` loop bound time and output on the calling thread; `Process` would need a second one.
enum TokenCommand {
  static func run(_ command: String, within limit: Duration) throws(Failure) -> [UInt8] {
    let end = ContinuousClock.now + limit
    let (process, output) = try spawn(command)
    defer { close(output) }
    do throws(Failure) {
      let bytes = try read(output, until: end)
      let status = try wait(process, until: end)
      guard status == 0 else {
        throw Failure(.permission, "the token command failed: it ended with \(words(status))")
      }
      return bytes
    } catch {
      // Its exit is taken, so that it does not stay behind as a zombie; one that has ended takes no harm.
      kill(process, SIGKILL)
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      throw error
    }
  }

  private static func spawn(_ command: String) throws(Failure) -> (process: pid_t, output: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw cannotRun(errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this program ignores, the command shall not.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var process: pid_t = 0
    let environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
    let code = withTexts(["/bin/sh", "-c", command]) { arguments in
      withTexts(environment) { posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, $0) }
    }
    guard code == 0 else {
      close(ends[0])
      throw cannotRun(code)
    }
    return (process, ends[0])
  }

  private static func read(_ output: Int32, until end: ContinuousClock.Instant) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, try milliseconds(until: end))
      if ready == 0 || (ready < 0 && errno == EINTR) { continue }
      let count = Glibc.read(output, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw cannotRun(errno) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: piece[..<count])
      guard bytes.count <= TokenSource.maxBytes else {
        throw Failure(
          .configuration,
          "the token command printed more than \(TokenSource.maxBytes) bytes")
      }
    }
  }

  /// The status of the process, which may close its output long before it ends.
  private static func wait(_ process: pid_t, until end: ContinuousClock.Instant) throws(Failure) -> Int32 {
    var status: Int32 = 0
    while true {
      switch waitpid(process, &status, WNOHANG) {
      case process: return status
      case 0: poll(nil, 0, min(5, try milliseconds(until: end)))
      default: if errno != EINTR { throw cannotRun(errno) }
      }
    }
  }

  /// What is left, for `poll`, at least one millisecond.
  private static func milliseconds(until end: ContinuousClock.Instant) throws(Failure) -> Int32 {
    let left = end - .now
    guard left > .zero else {
      throw Failure(.temporary, "the token command took too long and was stopped; does it wait for input?")
    }
    return Int32(min(left / .milliseconds(1), 60_000)) + 1
  }

  private static func words(_ status: Int32) -> String {
    let signal = status & 0x7F
    return signal == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(signal)"
  }

  private static func cannotRun(_ code: Int32) -> Failure {
    Failure(.inputOutput, "the token command cannot be run: \(String(cString: strerror(code)))")
  }

  /// The texts as a C array that ends in NULL.
  private static func withTexts<Value>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value
  ) -> Value {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
  }
}
