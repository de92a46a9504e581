// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

@testable import Commands

/// The version is printed at once: without threads, and without the parser.
@Suite struct VersionTests {
  @Test func theVersionAloneNeedsNeitherThreadsNorFiles() async throws {
    let program = try Program()
    let outcome = try await program.shell("exec prlimit --nofile=4 timeout 60 glucoport --version")
    #expect(outcome.status == 0 && outcome.output == Release.version + "\n", "\(outcome)")
    #expect(outcome.errors.isEmpty, "\(outcome)")
  }

  @Test func aVersionThatCannotBeWrittenIsAFailure() async throws {
    let outcome = try await Program().shell("exec timeout 60 glucoport --version >/dev/full")
    #expect(outcome.status == 74 && outcome.errors.contains("No space left on device"), "\(outcome)")
  }

  @Test func otherWordsAreTheParsers() async throws {
    let program = try Program()
    #expect(try await program.run("--versions").status == 64)
    let outcome = try await program.run("list", "--version")
    #expect(outcome.status == 0 && outcome.output == Release.version + "\n", "\(outcome)")
    // With threads and files, which the parser's way needs.
    #expect(
      try await program.shell("exec prlimit --nofile=4 timeout 60 glucoport list --version").status == 75)
  }
}
