// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook
import LogbookAPI
import TestProgram
import TestServers
import Testing

/// Tests that no person's store gets the remote or a source of another person's store without an option.
@Suite(.timeLimit(.minutes(10)))
struct OthersPlacesTests {
  private static let anna = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  private static let ben = "99999999-9999-4999-8999-999999999999"
  private let program: Program
  private let token: String

  init() throws {
    program = try Program()
    token = try program.write("gp_planted-Secret.0815\n", to: "token")
    #expect(chmod(token, 0o600) == 0)
  }

  @discardableResult
  private func run(_ line: String, status: Int32 = 0) async throws -> Program.Outcome {
    try await program.run(line: line, status: status)
  }

  private func addPersons() async throws {
    for name in ["anna", "ben"] { try await run("person add \(name) --quiet") }
  }

  private static func logbook(_ id: String) -> ScriptedAnswer {
    let logbook = RemoteLogbook(
      id: id, name: "logbook", isWritable: true, maxReadings: 10_000, maxRecords: 1000, time: 1_577_836_800)
    return .status(200, WireCodec.write(logbook))
  }

  private static let values: ScriptedAnswer = {
    let now = Int64(Date().timeIntervalSince1970) / 60 * 60
    let items = (1...3 as ClosedRange<Int64>).map {
      #"{"type":"sgv","date":\#((now - $0 * 300) * 1000),"sgv":\#(100 + $0)}"#
    }
    return .status(200, Array("[\(items.joined(separator: ","))]".utf8))
  }()

  private func expectRefused(_ line: String, _ reason: String, _ option: String) async throws {
    let refused = try await run(line, status: 78)
    #expect(
      refused.errors.contains("the store of anna \(reason)") && refused.errors.contains("add \(option)"),
      "\(refused.errors)")
  }

  // MARK: - Remotes

  @Test func theLogbookOfAnotherPersonIsNotSetAsRemote() async throws {
    try await addPersons()
    let server = try ScriptedServer { _ in Self.logbook(Self.anna) }
    let set = "remote set \(server.url) --token-file \(token)"
    try await run("\(set) --person anna")
    try await expectRefused(
      "\(set) --person ben", "is or was synced with this logbook", "--other-person")
    // Nothing was set, so there is no store either. Another address of the logbook is refused, too.
    try await run("status --person ben", status: 66)
    let second = try ScriptedServer { _ in Self.logbook(Self.anna) }
    let other = "remote set \(second.url) --token-file \(token)"
    try await expectRefused("\(other) --person ben", "is or was synced", "--other-person")
    // A removed remote is remembered.
    try await run("remote remove --person anna")
    try await expectRefused("\(set) --person ben", "is or was synced", "--other-person")
    try await run("\(set) --person ben --other-person")
    // A person has decided, so a later change of the token needs no option.
    try await run("\(set) --person ben")
    try await run("\(set) --person anna --other-person")
  }

  @Test func anotherLogbookOfTheSameServerIsSetForEachPerson() async throws {
    try await addPersons()
    let server = try ScriptedServer { request in
      Self.logbook(request.headers["authorization"]?.hasSuffix("0815") == true ? Self.anna : Self.ben)
    }
    let second = try program.write("gp_planted-Secret.4711\n", to: "token2")
    #expect(chmod(second, 0o600) == 0)
    try await run("remote set \(server.url) --token-file \(token) --person anna")
    try await run("remote set \(server.url) --token-file \(second) --person ben")
  }

  /// A store that is not in the list of persons may be a second store of any of them.
  @Test func aSecondStoreOfAPersonSyncsWithTheSameLogbook() async throws {
    try await addPersons()
    let server = try ScriptedServer { _ in Self.logbook(Self.anna) }
    let set = "remote set \(server.url) --token-file \(token)"
    try await run("\(set) --person anna")
    try await run("\(set) --store \(program.path("second.db"))")
    try await run("\(set) --person anna")
  }

  @Test func aStoreThatCannotBeReadPreventsNoRemote() async throws {
    try await addPersons()
    let server = try ScriptedServer { _ in Self.logbook(Self.anna) }
    try await run("remote set \(server.url) --token-file \(token) --person anna")
    try program.write("no database, but far more than nothing", to: "data/glucoport/persons/anna.db")
    for suffix in ["-wal", "-shm"] { unlink(program.path("data/glucoport/persons/anna.db" + suffix)) }
    try await run("remote set \(server.url) --token-file \(token) --person ben")
  }

  // MARK: - Nightscout sites

  /// A Nightscout site, and the path of a file with the token of a person who may read and write.
  private func site() throws -> (site: NightscoutStandIn, token: String) {
    let site = try NightscoutStandIn()
    let rights = ["api:entries:create,read,update", "api:treatments:create,read,update,delete"]
    let file = try program.write(site.addSubject("anna", rights: rights) + "\n", to: "site.token")
    #expect(chmod(file, 0o600) == 0)
    return (site, file)
  }

  @Test func theSiteOfAnotherPersonIsRefusedAsRemoteAndSource() async throws {
    try await addPersons()
    let (site, file) = try site()
    let remote = "remote set \(site.url) --type nightscout --token-file \(file)"
    let source = "source set site --type nightscout --yes --token-file \(file) \(site.url)"
    try await run("\(remote) --person anna")
    try await expectRefused("\(remote) --person ben", "is or was synced", "--other-person")
    try await expectRefused("\(source) --person ben", "syncs with this site", "--accept-person")
    // A document on the site is refused, too.
    try await expectRefused(
      "source set list --type http --yes \(site.url)/api/v1/entries.json --person ben",
      "syncs with this site",
      "--accept-person")
    try await run("\(source) --person ben --accept-person")
    try await run("\(source) --person ben")
  }

  @Test func theSiteFromWhichAnotherPersonFetchesIsRefused() async throws {
    try await addPersons()
    let (site, file) = try site()
    let source = "source set site --type nightscout --yes --token-file \(file) \(site.url)"
    try await run("\(source) --person anna")
    try await expectRefused(
      "\(source) --person ben", "fetches from this place as the source site", "--accept-person")
    let remote = "remote set \(site.url) --type nightscout --token-file \(file) --person ben"
    try await expectRefused(remote, "fetches from this site as the source site", "--other-person")
    try await run("source set site --type nightscout --yes --token-file \(file) \(site.url) --person anna")
    try await run("\(source) --store \(program.path("second.db"))")
    try await run("\(remote) --other-person")
  }

  // MARK: - Other sources

  @Test func anAddressOfAnotherPersonIsRefusedUnlessTheLoginDiffers() async throws {
    try await addPersons()
    let server = try ScriptedServer { _ in Self.values }
    let source = "source set phone --type http --yes"
    try await run("\(source) \(server.url)/sgv.json --token-file \(token) --person anna")
    try await expectRefused(
      "\(source) \(server.url)/sgv.json --token-file \(token) --person ben",
      "fetches from this place as the source phone", "--accept-person")
    let second = try program.write("gp_planted-Secret.4711\n", to: "token2")
    #expect(chmod(second, 0o600) == 0)
    try await run("\(source) \(server.url)/sgv.json --token-file \(second) --person ben")
    try await run("\(source) \(server.url)/other.json --token-file \(token) --person ben")
  }

  @Test func aCommandOfAnotherPersonIsRefusedUnlessItsArgumentsDiffer() async throws {
    try await addPersons()
    let rows = "time,glucose (mg/dL),kind\n2026-03-01T08:00:00Z,110,cbg\n"
    let (one, two) = (try program.write(rows, to: "one.csv"), try program.write(rows, to: "two.csv"))
    let source = "source set recipe --type command --yes --timezone UTC"
    try await run("\(source) --person anna -- cat \(one)")
    try await expectRefused(
      "\(source) --person ben -- cat \(one)", "fetches from this place as the source recipe",
      "--accept-person")
    try await run("\(source) --person ben -- cat \(two)")
  }
}
