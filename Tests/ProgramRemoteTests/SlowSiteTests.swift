// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestProgram
import TestServers
import Testing

/// Tests the time limits of uploads to a site that answers slowly. An upload that ends at its time limit
/// keeps the changes that the site has confirmed.
@Suite(.timeLimit(.minutes(10))) struct SlowSiteTests {
  private let program: Program
  private let site: NightscoutStandIn

  init() async throws {
    program = try Program()
    site = try NightscoutStandIn()
    let token = site.addSubject(
      "anna", rights: ["api:entries:create,read,update", "api:treatments:create,read,update,delete"])
    let path = try program.write(token + "\n", to: "token")
    #expect(chmod(path, 0o600) == 0)
    let set = try await program.run(
      "remote", "set", site.url, "--type", "nightscout", "--token-file", path, "--store", program.path("a.db")
    )
    try #require(set.status == 0, "\(set)")
  }

  /// The treatments of the site, except for the one that stores the zone of the logbook.
  private var treatments: [NightscoutDocument] {
    site.documents("treatments").filter { $0["created_at"]?.text?.hasPrefix("2000-01-02") != true }
  }

  private func addRecords(_ count: Int) async throws {
    for line in 0..<count {
      let added = try await program.run(
        "record", "add", "food", "\(line + 1)g", "--at", "\(line + 5)m", "--quiet", "--store",
        program.path("a.db"))
      try #require(added.status == 0, "\(added)")
    }
  }

  @Test func anUploadToASlowSiteEndsAfterItsTimeLimitAndTheNextContinues() async throws {
    try await addRecords(8)
    site.change { $0.answerDelay = .milliseconds(400) }
    var sent = 0
    for _ in 0..<20 {
      let start = ContinuousClock.now
      let outcome = try await program.run(
        "upload", "--now", "--max-time", "2s", "--store", program.path("a.db"))
      // A running request is completed after the time limit, and a record takes three requests. The other
      // seconds are for the start of the program on a busy machine.
      #expect(ContinuousClock.now - start < .seconds(9))
      let now = site.documents("treatments").count
      if outcome.status == 0 { break }
      #expect(outcome.status == 75, "\(outcome)")
      #expect(now > sent || treatments.count == 8, "what was answered is not sent again")
      sent = now
    }
    #expect(treatments.count == 8)
    site.change { $0.answerDelay = .zero }
    let rest = try await program.run("upload", "--now", "--store", program.path("a.db"))
    #expect(rest.output.hasPrefix("pushed 0 readings, 0 records"), "\(rest)")
  }

  /// The test takes as long as the time limit of a push, so it runs only on request.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["GLUCOPORT_SLOW_SITE"] != nil))
  func anEditIsPushedToASlowSiteForAtMostHalfAMinute() async throws {
    try await addRecords(14)
    site.change { $0.answerDelay = .seconds(2) }
    let start = ContinuousClock.now
    let outcome = try await program.run(
      "record", "add", "food", "40g", "--push", "--store", program.path("a.db"))
    #expect(ContinuousClock.now - start < .seconds(45))
    #expect(outcome.status == 0, "\(outcome)")
    #expect(treatments.count >= 4)
  }
}
