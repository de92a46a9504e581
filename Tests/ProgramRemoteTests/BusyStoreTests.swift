// SPDX-License-Identifier: Apache-2.0

import GRDB
import Glibc
import TestProgram
import TestServers
import Testing

/// Tests commands that must write to a store while another process locks it for longer than they wait.
@Suite(.timeLimit(.minutes(10))) struct BusyStoreTests {
  @Test func commandsThatCannotWriteInTimeEndWithATemporaryFailure() async throws {
    let program = try Program()
    let site = try NightscoutStandIn()
    let token = site.addSubject(
      "anna", rights: ["api:entries:create,read,update", "api:treatments:create,read,update,delete"])
    let path = try program.write(token + "\n", to: "token")
    #expect(chmod(path, 0o600) == 0)
    #expect(
      try await program.run("remote", "set", site.url, "--type", "nightscout", "--token-file", path).status
        == 0)
    let csv = try program.write(GeneratedExport.csv(rows: 3), to: "all.csv")
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: program.store, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    async let imported = program.run("import", csv)
    async let uploaded = program.run("upload", "--now")
    async let added = program.run("record", "add", "note", "x")
    for outcome in try await [imported, uploaded, added] {
      #expect(outcome.status == 75, "\(outcome)")
      #expect(outcome.errors.contains("another process holds the lock on the store; try again"), "\(outcome)")
    }
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    #expect(try await program.run("import", csv, "--quiet").status == 0)
    #expect(try await program.run("upload", "--quiet", "--now").status == 0)
    #expect(site.documents("entries").count == 3)
  }
}
