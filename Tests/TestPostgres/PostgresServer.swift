// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PostgresStore
import Synchronization

/// A PostgreSQL server in a temporary folder, on a Unix socket. The server ends when this object is
/// released, or when the process ends.
///
/// If the tests run as root, the user `postgres` of Debian's package runs it, since PostgreSQL refuses to
/// run as root.
package final class PostgresServer: Sendable {
  /// The folder with the socket and the data.
  package let folder: String

  /// The role that owns the schema, and the role that a glucoport server uses.
  package static let (owner, role) = ("glucoport_owner", "glucoport_server")

  private let process = Mutex<(process: Process, end: Pipe)?>(nil)

  /// Creates a server and starts it.
  package init() throws {
    folder = "\(Self.parent)/gp-\(UInt32.random(in: 0...UInt32.max))"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    try Self.run("/bin/sh", ["-c", Self.isRoot ? "chown postgres '\(folder)'" : "true"])
    try Self.run(
      "/bin/sh",
      [
        "-c",
        "\(Self.asUser) '\(Self.program("initdb"))' -D '\(folder)/data' -A trust -U postgres -E UTF8 --locale=C --no-sync >/dev/null",
      ])
    try start()
    try run("CREATE ROLE \(Self.owner) LOGIN; CREATE ROLE \(Self.role) LOGIN")
  }

  deinit { remove() }

  /// Stops the server and removes its data.
  package func remove() {
    stop()
    do { try FileManager.default.removeItem(atPath: folder) } catch {
      // A folder that remains among the temporary ones does not affect a test.
    }
  }

  /// Starts the server on its data, and waits until it accepts connections.
  package func start() throws {
    let process = Process()
    let end = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    // The shell ends the server when this process closes its end of the pipe, which also happens if the
    // process is killed.
    process.arguments = [
      "-c",
      """
      \(Self.asUser) '\(Self.program("postgres"))' -D '\(folder)/data' -c fsync=off -c full_page_writes=off \
        -c listen_addresses= -c unix_socket_directories='\(folder)' -c max_connections=300 -c shared_buffers=64MB \
        -c autovacuum=off -c max_wal_size=4GB >>'\(folder)/log' 2>&1 </dev/null &
      read -r line
      kill -QUIT "$(head -1 '\(folder)/data/postmaster.pid')"
      wait
      """,
    ]
    process.standardInput = end
    try Self.withoutBlockedSignals { try process.run() }
    self.process.withLock { $0 = (process, end) }
    for _ in 0..<600 {
      if (try? number("SELECT 1")) == 1 { return }
      usleep(50_000)
    }
    throw ServerFault(text: "PostgreSQL did not start; see \(folder)/log")
  }

  /// Kills every process of the server, as if the machine's memory were full. `start` recovers its data.
  package func crash() throws {
    let text = try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
    guard let postmaster = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw ServerFault(text: "no process in postmaster.pid")
    }
    // The first process starts no others while it is stopped.
    kill(postmaster, SIGSTOP)
    for child in Self.children(of: postmaster) { kill(child, SIGKILL) }
    kill(postmaster, SIGKILL)
    stop()
  }

  private static func children(of parent: pid_t) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { process in
      guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
        return false
      }
      // In /proc/PID/stat, the parent is the second word after the name. The name is in parentheses, and may
      // contain blanks.
      return text.split(separator: ")").last?.split(separator: " ").dropFirst().first == "\(parent)"
    }
  }

  /// Stops the server without a checkpoint.
  package func stop() {
    guard
      let running = process.withLock({ running in
        defer { running = nil }
        return running
      })
    else { return }
    running.end.fileHandleForWriting.closeFile()
    running.process.waitUntilExit()
  }

  /// Runs SQL as the superuser.
  package func run(_ sql: String, in database: String = "postgres") throws {
    try PostgresDatabase(DatabaseAddress(address(database, as: "postgres"))).run(sql)
  }

  /// Runs a client program of PostgreSQL, such as `pg_dump`, as the superuser.
  package func runTool(_ name: String, _ arguments: [String]) throws {
    try Self.run(Self.program(name), ["--host", folder, "--username", "postgres"] + arguments)
  }

  /// The whole number that a query of the superuser returns.
  package func number(_ query: String, in database: String = "postgres") throws -> Int64 {
    try PostgresDatabase(DatabaseAddress(address(database, as: "postgres"))).number(query)
  }

  /// The connection string of a database for a role.
  package func address(_ database: String, as role: String = PostgresServer.role) -> String {
    "host=\(folder) dbname=\(database) user=\(role)"
  }
}

extension PostgresServer {
  /// The parent folder of all servers. A folder that Tests/phases.sh made in memory is preferred, since
  /// copies of databases are many files. The path of a socket has at most 107 bytes.
  private static var parent: String {
    let path = FileManager.default.temporaryDirectory.path
    return path.hasPrefix("/dev/shm/") && path.utf8.count < 60 ? path : "/tmp"
  }

  private static var isRoot: Bool { geteuid() == 0 }

  private static var asUser: String {
    isRoot ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : "exec"
  }

  /// Runs `body` on this thread with no signal blocked. Children inherit what is blocked. The threads that
  /// run tasks block most signals, and a shell that does not receive SIGCHLD waits forever for a process that
  /// has ended.
  private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
    var (none, before) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    try body()
  }

  private struct ServerFault: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }

  /// The path of a program of PostgreSQL. Debian has the programs of a server only in the folder of its
  /// version.
  private static func program(_ name: String) -> String {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let paths = versions.compactMap(Int.init).sorted(by: >).map { "\(root)/\($0)/bin/\(name)" }
    return (paths + ["/usr/bin/\(name)", "/usr/local/bin/\(name)"])
      .first { FileManager.default.isExecutableFile(atPath: $0) } ?? name
  }

  @discardableResult
  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    let errors = Pipe()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ServerFault(text: "\(program): \(complaint)") }
    return text
  }
}
