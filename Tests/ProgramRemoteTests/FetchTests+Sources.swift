// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestProgram
import TestServers
import Testing

/// Tests commands, Nightscout sites, LibreLinkUp, Dexcom Share and xDrip+ as sources.
extension FetchTests {
  // MARK: - Commands

  @Test func fetchImportsTheOutputOfACommand() async throws {
    let (program, _) = try program()
    let list = try program.write(Self.values([10, 5]), to: "list.json")
    let script = try program.write("#!/bin/sh\necho \"$1\" >&2\ncat \"$2\"\nexit \"${3:-0}\"\n", to: "recipe")
    #expect(chmod(script, 0o700) == 0)
    let set = try await program.run(
      "source", "set", "cloud", "--type", "command", "--yes", "--", script, "two words", list)
    #expect(set.status == 0 && set.output.contains("the command says: two words"), "\(set)")
    let fetch = try await program.run("fetch")
    #expect(fetch.status == 0 && fetch.output == "cloud: new 2 · known 0\n", "\(fetch)")
    let show = try await program.run("source", "show")
    #expect(show.output.contains("the command ended with status 0: two words"), "\(show.output)")
    let failing = try await program.run(
      "source", "set", "failing", "--type", "command", "--yes", "--", script, "no\u{1B}[31m network", list,
      "3")
    #expect(failing.status == 75, "\(failing)")
    #expect(failing.errors.contains("the command ended with status 3: no [31m network"), "\(failing.errors)")
  }

  /// The exit status of the source's command, and the exit status that `fetch` returns for it.
  @Test(arguments: [(1, 75), (69, 75), (75, 75), (76, 76), (77, 77), (78, 78), (143, 75)])
  func theExitStatusOfAFetchCommandDeterminesThatOfFetch(_ status: Int32, _ expected: Int32) async throws {
    let (program, _) = try program()
    let script = try program.write(
      "#!/bin/sh\n[ ! -e ends ] && echo '[]' && exit\nexit $(cat ends)\n", to: "recipe")
    #expect(chmod(script, 0o700) == 0)
    let set = try await program.shell("glucoport source set cloud --type command --yes -- '\(script)'")
    #expect(set.status == 0, "\(set)")
    _ = try program.write("\(status)\n", to: "ends")
    let fetch = try await program.shell("glucoport fetch --unattended")
    #expect(fetch.status == expected && fetch.errors.contains("ended with status \(status)"), "\(fetch)")
    let show = try await program.run("source", "show", "--json")
    let object = try #require(try show.objects().first)
    #expect(object["blocked"] as? Bool == (expected >= 77), "\(object)")
  }

  @Test func theTimeLimitOfASourceIncludesItsTokenCommand() async throws {
    let (program, _) = try program()
    for type in ["http", "nightscout"] {
      let start = ContinuousClock.now
      let slow = try await program.run(
        "source", "set", "slow", "--type", type, "--yes", "--max-time", "1s", "--insecure-http",
        "--token-command", "sleep 600", "http://127.0.0.1:9/x")
      #expect(slow.status == 75 && slow.errors.contains("the token command took too long"), "\(slow)")
      #expect(ContinuousClock.now - start < .seconds(20))
    }
  }

  @Test func aFetchCommandIsLimitedInTimeAndOutput() async throws {
    let (program, _) = try program()
    let slow = try await program.run(
      "source", "set", "slow", "--type", "command", "--yes", "--max-time", "1s", "--", "sh", "-c",
      "sleep 600 & echo $! >\"$HOME/pid\"; sleep 600")
    #expect(slow.status == 75 && slow.errors.contains("took longer than"), "\(slow)")
    let closed = try await program.run(
      "source", "set", "closed", "--type", "command", "--yes", "--max-time", "1s", "--", "sh", "-c",
      "exec >/dev/null 2>&1; sleep 600")
    #expect(closed.status == 75 && closed.errors.contains("took longer than"), "\(closed)")
    let stubborn = try await program.run(
      "source", "set", "stubborn", "--type", "command", "--yes", "--", "sh", "-c",
      "(trap '' TERM; exec sleep 600) >/dev/null 2>&1 & echo $! >\"$HOME/pid2\"; echo '[]'")
    #expect(stubborn.status == 0, "\(stubborn)")
    let rest = try await program.shell(
      "for n in $(seq 50); do grep -q '^State:.*[^Z] (' /proc/$(cat pid2)/status 2>/dev/null || exit 0; sleep 0.1; done; echo left"
    )
    #expect(rest.output == "", "\(rest)")
    let plain = try program.write("echo\n", to: "plain")
    let denied = try await program.run("source", "set", "plain", "--type", "command", "--yes", "--", plain)
    #expect(denied.status == 77 && denied.errors.contains("chmod +x"), "\(denied)")
    let endless = try await program.run("source", "set", "endless", "--type", "command", "--yes", "--", "yes")
    #expect(endless.status == 76 && endless.errors.contains("more than 67108864 bytes"), "\(endless)")
    // A process that has ended stays in the process list until its parent reads its exit status. So the test
    // ignores zombies.
    let left = try await program.shell(
      "for n in $(seq 50); do grep -q '^State:.*[^Z] (' /proc/$(cat pid)/status 2>/dev/null || exit 0; sleep 0.1; done; echo left"
    )
    #expect(left.output == "", "\(left)")
  }

  // MARK: - Nightscout

  @Test func fetchOnlyReadsANightscoutSiteAndStoresTheReadingsOfItsExport() async throws {
    let program = try Program()
    let site = try NightscoutStandIn()
    let token = site.addSubject("reader", rights: ["*:*:read"])
    let path = try program.write(token + "\n", to: "site.token")
    #expect(chmod(path, 0o600) == 0)
    let phone = site.actAsPhoneApp()
    let now = site.now / 60_000 * 60_000
    func add(_ minutesAgo: Int64) throws {
      let date = now - minutesAgo * 60_000
      _ = try #require(
        phone.addEntry([
          "type": "sgv", "sgv": .number(Double(100 + minutesAgo % 40)), "date": .number(Double(date)),
          "device": "xDrip-Libre",
        ]))
    }
    // Two of these readings are older than the period that later runs of `fetch` read again.
    for minutes in [6000, 5995, 10, 5] { try add(Int64(minutes)) }
    _ = try #require(
      phone.addTreatment([
        "eventType": "Meal Bolus", "insulin": 4.5, "carbs": 45, "created_at": "2026-05-06T08:00:00.000Z",
      ]))
    let exported = DocumentValue.array(site.documents("entries").map(DocumentValue.object)).json
    let export = try program.write(exported, to: "export.json")
    #expect(try await program.run("import", export, "--quiet").status == 0)
    let set = try await program.run(
      "source", "set", "site", site.url, "--type", "nightscout", "--yes", "--token-file", path)
    #expect(set.status == 0 && set.output.contains("site · Nightscout site"), "\(set)")
    let first = try await program.run("fetch")
    #expect(first.status == 0 && first.output == "site: new 0 · known 4 · records new 2\n", "\(first)")
    try add(7)
    try add(0)
    let second = try await program.run("fetch")
    #expect(second.status == 0 && second.output.hasPrefix("site: new 2 · known "), "\(second)")
    #expect(site.requests.allSatisfy { $0.method == "GET" })
    let list = try await program.run("list", "--format", "ndjson", "--kind", "cbg")
    #expect(list.output.split(separator: "\n").count == 6)
    // A site that is a source of a store cannot also be its remote.
    let remote = try await program.run(
      "remote", "set", site.url, "--type", "nightscout", "--token-file", path)
    #expect(remote.status == 78 && remote.errors.contains("a source must be another place"), "\(remote)")
    site.removeSubject("reader")
    let refused = try await program.run("fetch")
    #expect(refused.status == 77, "\(refused)")
    let count = site.requests.count
    #expect(try await program.run("fetch", "--unattended", "--quiet").status == 77)
    #expect(site.requests.count == count)
  }

  @Test func statusReportsASourceThatNeedsAPerson() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values(stride(from: 600, through: 400, by: -5))))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").status == 0)
    let well = try await program.run("status", "--check", "--quiet")
    #expect(well.status == 0, "\(well)")
    try ageAnswers(of: program)
    answers.answer = .status(200, Self.values([5, 0]))
    #expect(try await program.run("fetch").status == 0)
    let hole = try await program.run("status", "--check", "--quiet")
    #expect(hole.status == 3 && hole.errors.contains("source: phone: "), "\(hole)")
    #expect(hole.errors.contains("is missing and no longer at the source"), "\(hole)")
    let ignored = try await program.run("status", "--check", "--quiet", "--ignore", "source")
    #expect(ignored.status == 0, "\(ignored)")
    answers.answer = .status(401)
    #expect(try await program.run("fetch").status == 77)
    let refused = try await program.run("status", "--check")
    #expect(
      refused.status == 77 && refused.errors.contains("no fetch from phone has succeeded"), "\(refused)")
    #expect(refused.output.contains("source phone: last fetch "), "\(refused.output)")
  }

  // MARK: - Stored once

  /// An answer of LibreLinkUp with the values of its graph. If `graph` is nil, it is an answer with the
  /// events of its logbook.
  static func libre(
    graph: [(String, Int)]?, events: [(String, Int)] = [], of id: String = "aaaa-1", _ name: String = "Anna"
  ) -> [UInt8] {
    func items(_ values: [(String, Int)], _ type: Int) -> String {
      values.map { time, value in
        #"{"FactoryTimestamp":"5/6/2026 \#(time) AM","Timestamp":"5/6/2026 \#(time) AM","type":\#(type),"ValueInMgPerDl":\#(value)}"#
      }.joined(separator: ",")
    }
    guard let graph else { return Array(#"{"status":0,"data":[\#(items(events, 1))]}"#.utf8) }
    let current = items([("9:17:00", 131)], 1)
    let connection =
      #"{"patientId":"\#(id)","firstName":"\#(name)","glucoseMeasurement":\#(current),"glucoseItem":\#(current)}"#
    return Array(
      #"{"status":0,"data":{"connection":\#(connection),"activeSensors":[],"graphData":[\#(items(graph, 0))]}}"#
        .utf8)
  }

  private static func share(_ values: [(Int64, Int)]) -> [UInt8] {
    Array(
      "[\(values.map { #"{"WT":"Date(\#($0))","DT":"Date(\#($0)+0200)","Value":\#($1),"Trend":"Flat"}"# }.joined(separator: ","))]"
        .utf8)
  }

  @Test func theGraphAndTheLogbookOfALibreLinkUpPersonAreOneDevice() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.libre(graph: [("9:00:39", 120), ("8:55:40", 118)])))
    let server = try answers.server()
    try await set(program, server, "--patient", "aaaa-1")
    #expect(try await program.run("fetch").output == "phone: new 2 · known 0\n")
    // The time of one value is two seconds later than before, and another value is added.
    answers.answer = .status(200, Self.libre(graph: [("9:05:40", 125), ("9:00:41", 120), ("8:55:40", 118)]))
    let moved = try await program.run("fetch")
    #expect(moved.output == "phone: new 1 · known 2\n", "\(moved)")
    answers.answer = .status(200, Self.libre(graph: nil, events: [("8:30:00", 110)]))
    let set = try await program.run(
      "source", "set", "events", server.url, "--type", "http", "--yes", "--patient", "aaaa-1")
    #expect(set.status == 0, "\(set)")
    #expect(try await program.run("fetch", "events").output == "events: new 1 · known 0\n")
    let status = try await program.run("status", "--json")
    let devices = try #require(try status.objects().first?["devices"] as? [[String: any Sendable]])
    #expect(Set(devices.compactMap { $0["model"] as? String }).count == 1, "\(devices)")
    #expect(Set(devices.compactMap { $0["kind"] as? String }) == ["cbg", "scan"], "\(devices)")
  }

  @Test func aGraphValueWhoseTimeAndNumberChangeSlightlyIsStoredOnce() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.libre(graph: [("9:00:39", 120), ("8:55:40", 118)])))
    let server = try answers.server()
    try await set(program, server, "--patient", "aaaa-1")
    #expect(try await program.run("fetch").output == "phone: new 2 · known 0\n")
    answers.answer = .status(200, Self.libre(graph: [("9:00:41", 123), ("8:55:40", 118)]))
    let moved = try await program.run("fetch")
    #expect(moved.output == "phone: new 0 · known 2\n", "\(moved)")
    #expect(moved.errors.contains("1 value differs from the stored ones of the same time"), "\(moved)")
    let list = try await program.run("list")
    #expect(list.output.contains(" 120 mg/dL") && !list.output.contains(" 123 mg/dL"), "\(list.output)")
  }

  @Test(
    arguments: [
      #"{"status":0,"data":{"connection":{"patientId":"aaaa-1","glucoseMeasurement":null},"activeSensors":[],"graphData":[]}}"#,
      String(decoding: libre(graph: []), as: UTF8.self),
    ])
  func aFetchedGraphWithoutValuesIsASuccess(_ body: String) async throws {
    let (program, _) = try program()
    let server = try Answers(.status(200, Array(body.utf8))).server()
    try await set(program, server)
    let fetch = try await program.run("fetch")
    #expect(fetch.status == 0 && fetch.output == "phone: the source has no readings\n", "\(fetch)")
  }

  @Test func aFetchedValueThatPhoneAndWatchSentIsStoredOnce() async throws {
    let (program, _) = try program()
    let start: Int64 = 1_777_000_000_000
    let answers = Answers(.status(200, Self.share([(start + 300_000, 110), (start, 120)])))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").output == "phone: new 2 · known 0\n")
    // The watch sends the same values 9.5 s later than the phone. After a calibration, the last two values of
    // phone and watch differ.
    answers.answer = .status(
      200,
      Self.share([
        (start + 609_500, 131), (start + 600_000, 125), (start + 309_500, 110), (start + 300_000, 110),
        (start + 9500, 120), (start, 120),
      ]))
    #expect(try await program.run("fetch").output == "phone: new 2 · known 2\n")
    let list = try await program.run("list", "--format", "ndjson")
    #expect(list.output.split(separator: "\n").count == 4, "\(list.output)")
  }

  @Test func fetchedReadingsThatAnotherDeviceHasAreReported() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values(stride(from: 100, through: 50, by: -5))))
    let server = try answers.server()
    try await set(program, server)
    let known = Self.values(stride(from: 100, through: 0, by: -5), device: "other")
    #expect(try await program.run("import", "-", "--quiet", input: known).status == 0)
    let few = try await program.run("fetch")
    #expect(few.output == "phone: new 11 · known 0\n", "\(few)")
    answers.answer = .status(200, Self.values(stride(from: 160, through: 5, by: -5), device: "second"))
    let many = try await program.run("fetch")
    #expect(many.output.contains("likely the same readings: 20 of"), "\(many)")
    #expect(try await program.run("fetch", "--quiet").output == "")
  }

  @Test func recalibratedValuesWithoutADeviceNameAreRecognisedAsKnown() async throws {
    let (program, _) = try program()
    let full = String(decoding: Self.values([15, 10, 5], device: "xDrip-Libre"), as: UTF8.self)
    let answers = Answers(.status(200, Array(full.utf8)))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").output == "phone: new 3 · known 0\n")
    let calibrated = full.replacing(#""sgv":1"#, with: #""sgv":2"#)
    answers.answer = .status(200, Array(calibrated.utf8))
    let changed = try await program.run("fetch").output
    #expect(changed == "phone: new 0 · known 0 · changed at the source 3\n", "\(changed)")
    answers.answer = .status(200, Array(calibrated.replacing(#","device":"xDrip-Libre""#, with: "").utf8))
    let brief = try await program.run("fetch")
    #expect(brief.output == "phone: new 0 · known 3\n", "\(brief)")
  }

  @Test(arguments: [false, true])
  func anXDripListWithoutDeviceNamesIsStoredUnderTheSameDevice(_ briefFirst: Bool) async throws {
    let (program, _) = try program()
    let full = String(decoding: Self.values([15, 10, 5], device: "xDrip-Libre"), as: UTF8.self)
    let brief = full.replacing(#","device":"xDrip-Libre""#, with: "").replacing(#""type":"sgv","#, with: "")
    let answers = Answers(.status(200, Array((briefFirst ? brief : full).utf8)))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").output == "phone: new 3 · known 0\n")
    answers.answer = .status(200, Array((briefFirst ? full : brief).utf8))
    let second = try await program.run("fetch")
    #expect(second.status == 0 && second.output == "phone: new 0 · known 3\n", "\(second)")
    let list = try await program.run("list", "--format", "ndjson")
    #expect(list.output.split(separator: "\n").count == 3, "\(list.output)")
  }
}
