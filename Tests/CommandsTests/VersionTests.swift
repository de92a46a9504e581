// SPDX-License-Identifier: Apache-2.0

import TestProgram
import Testing

@testable import CommandParts

/// Tests that `--version` prints the version at once, without starting threads or the parser.
@Suite struct VersionTests {
  @Test func theVersionIsPrintedEvenIfNoFurtherFileCanBeOpened() async throws {
    let program = try Program()
    let outcome = try await program.shell("exec prlimit --nofile=4 timeout 60 glucoport --version")
    #expect(outcome.status == 0 && outcome.output == Release.version + "\n", "\(outcome)")
    #expect(outcome.errors.isEmpty, "\(outcome)")
  }

  @Test func printingTheVersionToAFullDiskFails() async throws {
    let outcome = try await Program().shell("exec timeout 60 glucoport --version >/dev/full")
    #expect(outcome.status == 74 && outcome.errors.contains("No space left on device"), "\(outcome)")
  }

  @Test func argumentsOtherThanASingleVersionFlagAreParsed() async throws {
    let program = try Program()
    #expect(try await program.run("--versions").status == 64)
    let outcome = try await program.run("list", "--version")
    #expect(outcome.status == 0 && outcome.output == Release.version + "\n", "\(outcome)")
    // With other arguments, the program runs the parser. It needs threads and more open files than the limit
    // permits.
    #expect(
      try await program.shell("exec prlimit --nofile=4 timeout 60 glucoport list --version").status == 75)
  }
}
