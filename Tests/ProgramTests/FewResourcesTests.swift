// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestProgram
import Testing

/// Tests that a process with too few file descriptors or threads reports this, and does not crash or wait
/// forever.
@Suite struct FewResourcesTests {
  private static let commands = ["list", "status", "import rows.csv", "formats", "export", "upload"]
  /// Signals of a crash, and the status after a timeout.
  private static let failures: [Int32] = [124, 128 + SIGILL, 128 + SIGTRAP, 128 + SIGSEGV, 128 + SIGABRT]

  private func program() async throws -> Program {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "rows.csv")
    #expect(try await program.run("import", program.path("rows.csv"), "--quiet").status == 0)
    return program
  }

  /// Three descriptors are already open, so `count - 3` more files can be opened.
  @Test(arguments: [4, 7, 12, 66]) func tooFewFileDescriptorsAreReported(_ count: Int) async throws {
    let program = try await program()
    for command in Self.commands {
      let outcome = try await program.shell("exec prlimit --nofile=\(count) timeout 60 glucoport \(command)")
      #expect(outcome.status == 75, "\(command) with \(count): \(outcome)")
      #expect(outcome.errors.contains("only \(count - 3) more files can be"), "\(command): \(outcome)")
    }
  }

  /// The shell has the descriptors 4 to 9 open, and the program inherits them.
  @Test func inheritedFileDescriptorsAreCountedAsUsed() async throws {
    let program = try await program()
    let open = "exec 4<.; for n in 5 6 7 8 9; do eval \"exec $n<&4\"; done; "
    let few = try await program.shell(open + "exec prlimit --nofile=72 timeout 60 glucoport list")
    #expect(few.status == 75 && few.errors.contains("only 63 more files"), "\(few)")
    let enough = try await program.shell(open + "exec prlimit --nofile=73 timeout 60 glucoport list")
    #expect(enough.status == 0, "\(enough)")
  }

  @Test func withEnoughFileDescriptorsEveryCommandRuns() async throws {
    let program = try await program()
    for command in Self.commands {
      let outcome = try await program.shell("exec prlimit --nofile=67 timeout 60 glucoport \(command)")
      // An upload ends with status 78, since no server is configured.
      #expect(outcome.status == (command == "upload" ? 78 : 0), "\(command): \(outcome)")
    }
  }

  @Test func theFileDescriptorLimitIsRaisedIfPermitted() async throws {
    let program = try await program()
    let outcome = try await program.shell("exec prlimit --nofile=7:67 timeout 60 glucoport list")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    let few = try await program.shell("exec prlimit --nofile=7:66 timeout 60 glucoport list")
    #expect(few.status == 75, "\(few)")
  }

  @Test func aServerWithTooFewFileDescriptorsIsRefused() async throws {
    let program = try await program()
    let outcome = try await program.shell("exec prlimit --nofile=512 timeout 60 glucoport serve")
    #expect(outcome.status == 75 && outcome.errors.contains("allow more (ulimit -n)"), "\(outcome)")
  }

  /// Root has no limit of processes, so the test runs the program as another user. Only root can do this.
  @Test(.enabled(if: geteuid() == 0), arguments: 1...6) func tooFewThreadsAreReported(_ count: Int)
    async throws
  {
    let program = try await program()
    #expect(try await program.shell("chmod -R a+rX .").status == 0)
    let outcome = try await program.shell(
      """
      exec prlimit --nproc=\(count) setpriv --reuid=\(60_000 + getpid() % 4000) --clear-groups \
        timeout 60 glucoport formats
      """)
    #expect(!Self.failures.contains(outcome.status), "\(outcome)")
    #expect(outcome.status == 0 || !outcome.errors.isEmpty, "\(outcome)")
  }
}
