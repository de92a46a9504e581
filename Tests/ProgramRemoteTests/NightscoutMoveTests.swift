// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestProgram
import TestServers
import Testing

/// Tests how a Nightscout site shows treatments after the program has moved or hidden them.
@Suite(.timeLimit(.minutes(10))) struct NightscoutMoveTests {
  private let program: Program
  private let site: NightscoutStandIn

  init() throws {
    program = try Program()
    site = try NightscoutStandIn()
  }

  private func connect(mayDelete: Bool = true) async throws {
    let right = "api:entries:create,read,update" + (mayDelete ? ",delete" : "")
    let token = site.addSubject("anna", rights: [right, "api:treatments:create,read,update,delete"])
    let path = try program.write(token + "\n", to: "token")
    #expect(chmod(path, 0o600) == 0)
    let set = try await program.run(
      "remote", "set", site.url, "--type", "nightscout", "--token-file", path)
    #expect(set.status == 0, "\(set)")
  }

  /// Fills a store with readings and a meal whose offsets follow from the zone of the logbook, and uploads
  /// all of them to the site.
  private func fill(mayDelete: Bool = true) async throws {
    let csv = try program.write(GeneratedExport.csv(rows: 50), to: "all.csv")
    #expect(try await program.run("import", csv, "--timezone", "UTC", "--quiet").status == 0)
    let added = try await program.run("record", "add", "food", "45", "--at", "2024-03-01T08:00", "--quiet")
    #expect(added.status == 0, "\(added)")
    try await connect(mayDelete: mayDelete)
    let upload = try await program.run("upload", "--now")
    #expect(upload.status == 0 && upload.output.hasPrefix("pushed 50 readings"), "\(upload)")
  }

  private var firstEntry: Double? { site.documents("entries").compactMap { $0["date"]?.number }.min() }
  private var meals: [NightscoutDocument] {
    site.documents("treatments").filter { $0["isValid"] != false && $0["eventType"] == "Carb Correction" }
  }

  @Test func aTimeZoneChangeAnnouncesHowManyReadingsTheNextUploadMoves() async throws {
    try await fill()
    #expect(firstEntry == 1_704_067_200_000)
    let changed = try await program.run("config", "timezone", "Asia/Tokyo")
    #expect(
      changed.output == """
        timezone Asia/Tokyo: recalculated 50 readings and 1 record
        50 readings and 1 record to move on the Nightscout site; 'glucoport upload' moves them, 5,000 in a run

        """, "\(changed)")
    #expect(
      try await program.run("status").output.contains(" · 50 readings, 1 record to move on the site"))
    let status = try #require(try await program.run("status", "--json").objects().first)
    #expect(status["readings_to_move"] as? Int == 50 && status["records_to_move"] as? Int == 1)
    #expect(status["pending_readings"] as? Int == 0)
    let preview = try await program.run("upload", "--dry-run")
    #expect(preview.output.contains("50 readings, 1 record to move on the site"), "\(preview)")
    let upload = try await program.run("upload", "--now")
    #expect(upload.status == 0, "\(upload)")
    #expect(upload.output.contains(" · 50 readings, 1 record moved on the site"), "\(upload)")
    #expect(!upload.output.contains("to move"), "\(upload)")
    #expect(firstEntry == 1_704_067_200_000 - 32_400_000 && site.documents("entries").count == 50)
    #expect(meals.count == 1 && meals.first?["created_at"] == "2024-02-29T23:00:00.000Z")
    #expect(try await program.run("status").output.contains("to move") == false)
    let again = try await program.run("upload", "--now", "--json")
    let object = try #require(again.objects().first)
    for name in ["moved_readings", "moved_records", "readings_to_move", "records_to_move"] {
      #expect(object[name] as? Int == 0, "\(name)")
    }
    #expect(try await program.run("verify", "--quiet").status == 0)
  }

  @Test func aSiteTokenWithoutPermissionToDeleteIsReported() async throws {
    try await fill(mayDelete: false)
    #expect(try await program.run("config", "timezone", "Asia/Tokyo").status == 0)
    let upload = try await program.run("upload", "--now")
    #expect(upload.status == 75 && upload.errors.contains("add api:entries:delete to its role"), "\(upload)")
    #expect(upload.output.contains("50 readings to move on the site"), "\(upload)")
    #expect(firstEntry == 1_704_067_200_000 && site.documents("entries").count == 50)
  }

  @Test func withoutASiteATimeZoneChangeReportsNoMoves() async throws {
    let csv = try program.write(GeneratedExport.csv(rows: 5), to: "all.csv")
    #expect(try await program.run("import", csv, "--timezone", "UTC", "--quiet").status == 0)
    let changed = try await program.run("config", "timezone", "Asia/Tokyo")
    #expect(changed.output == "timezone Asia/Tokyo: recalculated 5 readings and 0 records\n", "\(changed)")
  }

  @Test func aHiddenMealIsRemovedFromTheSiteAndLaterRestored() async throws {
    try await fill()
    let id = try #require(meals.first?["identifier"]?.text)
    #expect(try await program.run("record", "hide", id, "--quiet").status == 0)
    #expect(try await program.run("upload", "--now").status == 0)
    #expect(meals.isEmpty)
    let document = try #require(site.documents("treatments", identifier: id).first)
    #expect(document["isValid"] == false && document["carbs"]?.number == nil)
    let status = try await program.run("status")
    #expect(status.output.contains("1 record, 0 pending"), "\(status)")
    #expect(status.output.contains("hidden: 0 readings and 1 record\n"), "\(status)")
    #expect(try await program.run("verify", "--quiet").status == 0)
    #expect(try await program.run("record", "restore", id, "--quiet").status == 0)
    #expect(try await program.run("upload", "--now").status == 0)
    #expect(meals.compactMap { $0["carbs"]?.number } == [45])
    #expect(try await program.run("list", "--kind", "food").output.contains("45 g"))
  }
}
