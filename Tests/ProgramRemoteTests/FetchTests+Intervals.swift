// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestProgram
import TestServers
import Testing

/// Tests when a source is asked, and the persons, holes and options of a source.
extension FetchTests {
  // MARK: - When a source is asked

  @Test func aTestOfASourceObeysTheWaitThatTheSourceAskedFor() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .raw("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7200 \r\nContent-Length: 0\r\n\r\n")
    #expect(try await program.run("source", "test", "phone").status == 75)
    let count = server.requests.count
    for arguments in [["source", "test", "phone"], ["fetch", "--now"]] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 75 && outcome.errors.contains("asked for no request before"), "\(outcome)")
      #expect(!outcome.errors.contains("use --now"), "\(outcome)")
    }
    #expect(server.requests.count == count)
  }

  @Test func statusReportsASourceThatNeverSucceeded() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(503)
    #expect(try await program.run("fetch", "--unattended").status == 75)
    try await Task.sleep(for: .seconds(2))
    let check = try await program.run("status", "--check", "--quiet", "--max-age", "1s")
    #expect(check.status == 75 && check.errors.contains("no fetch from phone succeeded since"), "\(check)")
  }

  @Test func afterARejectedPasswordASourceIsNotAskedUntilAPersonActs() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(401)
    let job = ["fetch", "--unattended", "--quiet"]
    let first = try await program.run(arguments: job)
    #expect(first.status == 77 && first.errors.contains("rejects the login"), "\(first)")
    let count = server.requests.count
    for _ in 0..<3 {
      let later = try await program.run(arguments: job)
      #expect(later.status == 77 && later.errors == "" && later.output == "", "\(later)")
    }
    #expect(try await program.run("fetch").status == 77)
    #expect(server.requests.count == count)
    answers.answer = .status(200, Self.values([5, 0]))
    let now = try await program.run("fetch", "--now")
    #expect(now.status == 0 && server.requests.count == count + 1, "\(now)")
  }

  @Test func aFetchJobAsksTheSourceOnlyAfterTheInterval() async throws {
    let (program, _) = try program()
    let server = try Answers(.status(200, Self.values([5]))).server()
    try await set(program, server)
    for _ in 0..<3 {
      let job = try await program.run("fetch", "--unattended", "--quiet")
      #expect(job.status == 0 && job.output == "" && job.errors == "", "\(job)")
    }
    #expect(server.requests.count == 2)
    let told = try await program.run("fetch", "--unattended", "--json")
    let object = try #require(try told.objects().first)
    #expect(object["result"] as? String == "not-due" && server.requests.count == 2, "\(object)")
  }

  @Test func aWaitThatTheSourceAsksForIsObeyedDespiteTheNowOption() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(429, headers: ["Retry-After: 300"])
    let busy = try await program.run("fetch")
    #expect(busy.status == 75, "\(busy)")
    let count = server.requests.count
    let now = try await program.run("fetch", "--now")
    #expect(now.status == 75 && now.errors.contains("asked for no request before"), "\(now)")
    #expect(server.requests.count == count)
    // If a person sets the source again, the program no longer waits.
    answers.answer = .status(200, Self.values([5]))
    try await set(program, server)
    #expect(try await program.run("fetch").status == 0)
  }

  @Test func aFetchJobIsSilentAboutFailuresThatPassByThemselves() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .raw("", .reset)
    let job = try await program.run("fetch", "--unattended", "--quiet")
    #expect(job.status == 75 && job.errors == "" && job.output == "", "\(job)")
    let person = try await program.run("fetch", "--now")
    #expect(person.status == 69 && person.errors != "", "\(person)")
  }

  @Test func onlyOneFetchOfAStoreRunsAtATime() async throws {
    let (program, _) = try program()
    let server = try Answers(.status(200, Self.values([5]))).server()
    try await set(program, server)
    let count = server.requests.count
    let outcome = try await program.shell("flock data/glucoport/logbook.db-fetch glucoport fetch")
    #expect(outcome.status == 75 && outcome.errors.contains("another fetch of this store"), "\(outcome)")
    #expect(server.requests.count == count)
  }

  @Test func afterAKilledFetchTheNextOneSucceeds() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try ScriptedServer { [asked = program.path("asked")] request in
      if request.path == "/sgv.json" { _ = FileManager.default.createFile(atPath: asked, contents: nil) }
      return answers.answer
    }
    try await set(program, server)
    answers.answer = .raw(
      "HTTP/1.1 200 OK\r\nETag: \"half\"\r\nContent-Length: 100000\r\n\r\n[", .drip)
    let killed = try await program.shell(
      """
      rm asked; glucoport fetch & pid=$!
      until [ -e asked ] || ! kill -0 $pid; do sleep 0.02; done
      kill -9 $pid; wait $pid; echo "ended $?"
      """)
    #expect(killed.output == "ended 137\n", "\(killed)")
    answers.answer = .status(200, Self.values([60, 5]))
    let after = try await program.run("fetch")
    #expect(after.status == 0 && after.output == "phone: new 2 · known 0\n", "\(after)")
    #expect(server.requests.last?.headers["if-none-match"] == nil)
  }

  @Test(arguments: [
    ("", ScriptedAnswer.End.hold), ("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n[", .hold),
    ("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n[", .drip),
  ])
  func aSignalEndsAFetchAtOnceEvenDuringAnAnswer(_ sent: String, _ end: ScriptedAnswer.End) async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60]), headers: ["ETag: \"one\""]))
    let server = try ScriptedServer { [asked = program.path("asked")] request in
      if request.path == "/sgv.json" { _ = FileManager.default.createFile(atPath: asked, contents: nil) }
      return answers.answer
    }
    try await set(program, server)
    #expect(try await program.run("fetch").status == 0)
    answers.answer = .raw(sent, end)
    let start = ContinuousClock.now
    let ended = try await program.shell(
      """
      rm asked; glucoport fetch & pid=$!
      until [ -e asked ] || ! kill -0 $pid; do sleep 0.02; done
      kill -TERM $pid; wait $pid; echo "ended $?"
      """)
    #expect(ended.output == "ended 143\n", "\(ended)")
    // The server would send for much longer, and the time limits of a request are minutes. So the signal must
    // have ended the fetch.
    #expect(ContinuousClock.now - start < .seconds(10))
    answers.answer = .status(200, Self.values([60, 5]))
    let after = try await program.run("fetch")
    #expect(after.status == 0 && after.output == "phone: new 1 · known 1\n", "\(after)")
    #expect(server.requests.last?.headers["if-none-match"] == "\"one\"")
  }

  // MARK: - Persons, holes and options

  @Test func fetchedDataOfAnotherPersonIsRefused() async throws {
    let (program, _) = try program()
    func graph(_ id: String, _ name: String) -> String {
      String(decoding: Self.libre(graph: [("9:00:00", 120)], of: id, name), as: UTF8.self)
    }
    let answers = Answers(.status(200, Array(graph("aaaa-1", "Anna").utf8)))
    let server = try answers.server()
    let set = try await program.run("source", "set", "phone", server.url, "--type", "http", "--yes")
    #expect(set.status == 0 && set.output.contains("person Anna"), "\(set)")
    #expect(try await program.run("fetch").output == "phone: new 1 · known 0\n")
    answers.answer = .status(200, Array(graph("bbbb-2", "Ben").utf8))
    let other = try await program.run("fetch")
    #expect(other.status == 65 && other.errors.contains("another person"), "\(other)")
    answers.answer = .status(200, Array((graph("aaaa-1", "Anna") + "\n" + graph("bbbb-2", "Ben")).utf8))
    let both = try await program.run("source", "set", "both", server.url, "--type", "http", "--yes")
    #expect(both.status == 78 && both.errors.contains("--patient"), "\(both)")
    let one = try await program.run(
      "source", "set", "both", server.url, "--type", "http", "--yes", "--patient", "aaaa-1")
    #expect(one.status == 0 && one.output.contains("cbg 1"), "\(one)")
    let second = try await program.run(
      "source", "set", "ben", server.url, "--type", "http", "--yes", "--accept-person", "--patient", "bbbb-2")
    #expect(second.status == 0 && second.output.contains("person Ben"), "\(second)")
    answers.answer = .status(200, Array(graph("bbbb-2", "Ben").utf8))
    let gone = try await program.run("fetch", "both")
    #expect(gone.status == 78 && gone.errors.contains("not in the answer any more"), "\(gone)")
  }

  /// Moves the stored time of the last answer of each source back by a day, as if there had been an outage.
  func ageAnswers(of program: Program) throws {
    try StoreFile(program.store).execute(
      """
      UPDATE setting SET value = json_set(value, '$.state.answeredAt',
        json_extract(value, '$.state.answeredAt') - 86400) WHERE name LIKE 'source %'
      """)
  }

  @Test func missingFetchedValuesAreReportedUntilTheyAreFilled() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values(stride(from: 600, through: 400, by: -5))))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").errors == "")
    answers.answer = .status(200, Self.values(stride(from: 100, through: 0, by: -5)))
    let hole = try await program.run("fetch", "--quiet")
    #expect(hole.status == 0 && hole.output == "", "\(hole)")
    #expect(
      hole.errors.contains("is missing and no longer at the source; import an export"), "\(hole.errors)")
    let again = try await program.run("fetch", "--quiet")
    #expect(again.status == 0 && again.errors == "", "\(again)")
    #expect(try await program.run("source", "show").output.contains("is missing"))
    let report = ["report", "-o", "-", "--quiet", "--language", "de"]
    let page = try await program.run(arguments: report)
    #expect(page.output.contains("Sensorwerte fehlen"), "\(page.errors)")
    let early = try await program.run(arguments: report + ["--until", "1d"])
    #expect(early.status == 66 || !early.output.contains("Sensorwerte fehlen"), "\(early)")
    // The first import fills a part of the time without values, and the second import fills the other part.
    for (minutes, count) in [
      (stride(from: 395, through: 200, by: -5), 1), (stride(from: 195, through: 105, by: -5), 0),
    ] {
      let filled = try await program.run("import", "-", "--quiet", input: Self.values(minutes))
      #expect(filled.status == 0, "\(filled)")
      #expect(try await program.run("fetch", "--quiet").errors == "")
      let object = try #require(try await program.run("source", "show", "--json").objects().first)
      #expect((object["holes"] as? [Any])?.count == count, "\(object)")
    }
    // An undo of the second import hides its values, so they are missing again. A redo shows them again.
    func holes() async throws -> Int? {
      let object = try #require(try await program.run("source", "show", "--json").objects().first)
      return (object["holes"] as? [Any])?.count
    }
    #expect(try await program.run("undo", "--yes").status == 0)
    #expect(try await holes() == 1)
    #expect(try await program.run("fetch", "--quiet").errors.contains("is missing and no longer at"))
    #expect(try await program.run("redo", "--yes").status == 0)
    #expect(try await holes() == 0)
    #expect(try await !program.run(arguments: report).output.contains("Sensorwerte fehlen"))
  }

  @Test func invalidSourcesAreRefusedBeforeAnyRequest() async throws {
    let (program, token) = try program()
    let server = try Answers(.status(200, Self.values([5]))).server()
    let attempts: [([String], Int32)] = [
      (["a", "http://192.0.2.1/f", "--type", "http"], 78),
      (["a", server.url + "/f?token=\(Self.secret)", "--type", "http"], 78),
      (["a", server.url + "/f?a=1;api-Secret=\(Self.secret)", "--type", "http"], 78),
      (["a", server.url + "/f?accessToken=\(Self.secret)", "--type", "http"], 78),
      (["a", "http://user:\(Self.secret)@127.0.0.1/f", "--type", "http"], 78),
      (["a b", server.url, "--type", "http"], 64), (["a", server.url], 64),
      (["a", server.url, "--type", "nightscout"], 64),
      (["a", server.url, "--type", "http", "--token-file", token, "--header", "Host"], 64),
      (["a", server.url, "--type", "http", "--token-file", token + ".none"], 66),
      (["a", "--type", "command", "--", "no-such-program"], 66), (["a", "--type", "command"], 64),
    ]
    for (arguments, status) in attempts {
      let outcome = try await program.run(arguments: ["source", "set", "--yes"] + arguments)
      #expect(outcome.status == status, "\(arguments): \(outcome)")
      #expect(!outcome.errors.contains(Self.secret), "\(outcome.errors)")
    }
    let unasked = try await program.run("source", "set", "a", server.url, "--type", "http")
    #expect(unasked.status == 64 && unasked.errors.contains("--yes"), "\(unasked)")
    #expect(server.connectionCount == 0)
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }
}
