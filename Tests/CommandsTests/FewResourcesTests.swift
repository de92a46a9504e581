// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Commands

/// A process that may open few files or start few threads says so, and neither traps nor waits for ever.
@Suite struct FewResourcesTests {
  private static let commands = ["list", "status", "import rows.csv", "formats", "export", "upload"]
  /// A signal of a trap, and the end of the time that a run has.
  private static let failures: [Int32] = [124, 128 + SIGILL, 128 + SIGTRAP, 128 + SIGSEGV, 128 + SIGABRT]

  private func program() async throws -> Program {
    let program = try Program()
    try program.write(GeneratedExport.csv(rows: 3), to: "rows.csv")
    #expect(try await program.run("import", program.path("rows.csv"), "--quiet").status == 0)
    return program
  }

  @Test(arguments: 4...12) func fewDescriptorsAreReported(_ count: Int) async throws {
    let program = try await program()
    for command in Self.commands {
      let outcome = try await program.shell("exec prlimit --nofile=\(count) timeout 60 glucoport \(command)")
      #expect(!Self.failures.contains(outcome.status), "\(command) with \(count): \(outcome)")
      #expect(outcome.status == 0 || !outcome.errors.isEmpty, "\(command) with \(count): \(outcome)")
    }
  }

  @Test(arguments: 4...6) func theReasonIsThatOfTheSystem(_ count: Int) async throws {
    let program = try await program()
    let outcome = try await program.shell("exec prlimit --nofile=\(count) timeout 60 glucoport list")
    #expect([74, 75].contains(outcome.status), "\(outcome)")
    #expect(outcome.errors.contains("Too many open files"), "\(outcome)")
  }

  @Test func enoughDescriptorsAreEnough() async throws {
    let program = try await program()
    let outcome = try await program.shell("exec prlimit --nofile=64 glucoport list")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
  }

  /// Root has no limit of processes, so that another user is needed.
  @Test(.enabled(if: geteuid() == 0), arguments: 1...6) func fewThreadsAreReported(_ count: Int) async throws
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

  @Test func moreThreadsThanThereCanBeAreAFault() {
    #expect(SpareThreads.fault(threads: SpareThreads.ofProgram) == nil)
    #expect(SpareThreads.fault(threads: 0) == nil)
  }
}
