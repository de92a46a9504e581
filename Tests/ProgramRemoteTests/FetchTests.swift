// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import TestProgram
import TestServers
import Testing

/// Tests `glucoport source` and `glucoport fetch` as people and jobs run them. The sources are servers of the
/// test on the loopback interface, and programs.
@Suite(.timeLimit(.minutes(10)))
struct FetchTests {
  static let secret = "planted-Secret.0815"

  /// The time from which all answers count back. It is computed once, so that two answers have the same
  /// values.
  private static let now = Int64(Date().timeIntervalSince1970) / 60 * 60

  /// A list of sensor values in the format of xDrip+ and Nightscout. `minutesAgo` states how many minutes ago
  /// each value was measured.
  static func values(_ minutesAgo: some Sequence<Int>, device: String = "phone") -> [UInt8] {
    let items = minutesAgo.map { minutes in
      #"{"type":"sgv","date":\#((now - Int64(minutes) * 60) * 1000),"sgv":\#(100 + minutes % 50),"device":"\#(device)"}"#
    }
    return Array("[\(items.joined(separator: ","))]".utf8)
  }

  /// The program, and the path of a file with the secret in its folder.
  func program() throws -> (program: Program, token: String) {
    let program = try Program()
    let path = try program.write(Self.secret + "\n", to: "token")
    #expect(chmod(path, 0o600) == 0)
    return (program, path)
  }

  func set(_ program: Program, _ server: ScriptedServer, _ options: String...) async throws {
    let set = try await program.run(
      arguments: ["source", "set", "phone", server.url + "/sgv.json", "--type", "http", "--yes"] + options)
    #expect(set.status == 0, "\(set)")
  }

  /// A server with one answer for all requests, which a test can replace.
  final class Answers: Sendable {
    private let current: Mutex<ScriptedAnswer>
    init(_ answer: ScriptedAnswer) { current = Mutex(answer) }
    var answer: ScriptedAnswer {
      get { current.withLock { $0 } }
      set { current.withLock { $0 = newValue } }
    }
    func server() throws -> ScriptedServer { try ScriptedServer { [self] _ in answer } }
  }

  // MARK: - A source and its answers

  @Test func anOnlineSourceIsSetFetchedShownTestedAndRemoved() async throws {
    let (program, token) = try program()
    let answers = Answers(.status(200, Self.values([15, 10, 5]), headers: ["ETag: \"one\""]))
    let server = try answers.server()
    let set = try await program.run(
      "source", "set", "phone", server.url + "/sgv.json?count=3", "--type", "http", "--yes", "--header",
      "api-secret", "--token-file", token)
    #expect(set.status == 0, "\(set)")
    #expect(set.output.contains("phone · address · \(server.url)/sgv.json?count=3\n"), "\(set.output)")
    #expect(
      set.output.contains("the answer names no person") && set.output.contains("cbg 3"), "\(set.output)")
    #expect(server.requests.map(\.path) == ["/sgv.json?count=3"])
    #expect(server.requests.first?.headers["api-secret"] == Self.secret)
    let fetch = try await program.run("fetch")
    #expect(fetch.status == 0 && fetch.output == "phone: new 3 · known 0\n", "\(fetch)")
    answers.answer = .status(304)
    let same = try await program.run("fetch")
    #expect(same.status == 0 && same.output == "phone: nothing new\n", "\(same)")
    #expect(server.requests.last?.headers["if-none-match"] == "\"one\"")
    // A value that arrives late is older than values that are already stored.
    answers.answer = .status(200, Self.values([15, 12, 10, 5, 0]))
    let more = try await program.run("fetch")
    #expect(more.status == 0 && more.output == "phone: new 2 · known 3\n", "\(more)")
    let show = try await program.run("source", "show")
    #expect(show.output.contains("value of the header api-secret from the file \(token)"), "\(show.output)")
    let test = try await program.run("source", "test", "phone")
    #expect(test.status == 0 && test.output.contains("cbg 5"), "\(test)")
    let store = try Data(contentsOf: URL(filePath: program.store))
    #expect(store.range(of: Data(Self.secret.utf8)) == nil)
    let remove = try await program.run("source", "remove", "phone")
    #expect(remove.status == 0 && remove.output.contains("stays"), "\(remove)")
    #expect(try await program.run("fetch").status == 78)
    let list = try await program.run("list", "--format", "ndjson")
    #expect(list.output.split(separator: "\n").count == 5)
  }

  @Test func aFetchedAnswerWithTheSameBytesIsNotImportedAgain() async throws {
    let (program, _) = try program()
    let server = try Answers(.status(200, Self.values([10, 5]))).server()
    try await set(program, server)
    for _ in 0..<3 { #expect(try await program.run("fetch").status == 0) }
    let log = try await program.run("log", "--json")
    #expect(log.output.split(separator: "\n").count == 1, "\(log.output)")
  }

  @Test(arguments: [("--user anna", "Basic"), ("", "Bearer")])
  func theFetchOptionsDetermineWhetherAPasswordOrTokenIsSent(_ options: String, _ scheme: String) async throws
  {
    let (program, token) = try program()
    let server = try Answers(.status(200, Self.values([5]))).server()
    let words = options.split(separator: " ").map(String.init)
    let set = try await program.run(
      arguments: [
        "source", "set", "file", server.url + "/a", "--type", "http", "--yes", "--token-file", token,
      ]
        + words)
    #expect(set.status == 0, "\(set)")
    let basic = Data("anna:\(Self.secret)".utf8).base64EncodedString()
    let sent = server.requests.first?.headers["authorization"]
    #expect(sent == (scheme == "Basic" ? "Basic \(basic)" : "Bearer \(Self.secret)"))
  }

  @Test func aFetchedListWithoutReadingsIsASuccessAndAnEmptyAnswerIsNot() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Array("[]".utf8)))
    let server = try answers.server()
    try await set(program, server)
    let empty = try await program.run("fetch")
    #expect(empty.status == 0 && empty.output == "phone: the source has no readings\n", "\(empty)")
    answers.answer = .status(200, [])
    let nothing = try await program.run("fetch")
    #expect(nothing.status == 76 && nothing.errors.contains("the answer is empty"), "\(nothing)")
  }

  /// Bodies that services return instead of data. Each has its HTTP status, the exit status of `fetch` and a
  /// part of its message.
  @Test(
    arguments: [
      (200, #"{"status":0,"data":{"redirect":true,"region":"eu2"}}"#, 78, "another region, 'eu2'"),
      (200, #"{"status":0,"data":[]}"#, 78, "returns no person"),
      (
        200, #"{"status":4,"data":{"step":{"type":"tou","componentName":"AcceptDocument"}}}"#, 77, "new terms"
      ),
      (200, #"{"status":2,"error":{"message":"notAuthenticated"}}"#, 77, "rejected the password"),
      (200, #"{"status":4,"error":{"message":"couldNotLoadPatient"}}"#, 78, "does not know the person"),
      (403, #"{"data":{"minimumVersion":"4.16.0"},"status":920}"#, 76, "wants version 4.16.0 of its app"),
      (400, #"{"message":"RequiredHeaderMissing"}"#, 76, "a newer version of its app"),
      (
        200,
        #"{"status":429,"data":{"code":60,"data":{"failures":3,"interval":60,"lockout":300},"message":"locked"}}"#,
        75, "locked the account"
      ),
      (200, #"{"data":"bm9uY2U=.Y2lwaGVy.dGFn","signature":"c2ln"}"#, 76, "encrypted answer of version 5"),
      (500, #"{"Code":"AccountPasswordInvalid","Message":"x"}"#, 77, "Dexcom Share rejected the password"),
      (500, #"{"Code":"SSO_AuthenticateMaxAttemptsExceeed","Message":"x"}"#, 75, "locked the account"),
      (200, "<!DOCTYPE html><html><title>Login</title></html>", 76, "a web page instead of data"),
      (403, "<html>Attention Required</html>", 76, "a web page instead of data"),
      (401, "", 77, "rejects the login"),
      (401, "<html><title>401 Authorization Required</title></html>", 77, "rejects the login"),
      (429, "<html>429 Too Many Requests</html>", 75, "status 429"),
      (500, "<html>500 Internal Server Error</html>", 75, "status 500"),
      (502, "<!DOCTYPE html><html></html>", 69, "status 502"), (503, "\n<html></html>", 75, "status 503"),
      (404, "", 76, "there is nothing at this address"),
      (430, "", 76, "status 430"), (503, "", 75, "status 503"), (502, "", 69, "status 502"),
      (200, #"{"Zweck":"unbekannt"}"#, 65, "unknown format"),
    ])
  func eachErrorAnswerOfASourceIsReportedWithItsMessage(
    _ status: Int, _ body: String, _ exit: Int32, _ sentence: String
  ) async throws {
    try await expectTrouble(status, body, exit, sentence)
  }

  /// Returns a body to `fetch`. Checks the exit status and the message, and whether the source is blocked
  /// until a person acts.
  func expectTrouble(_ status: Int, _ body: String, _ exit: Int32, _ sentence: String) async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(status, Array(body.utf8))
    let fetch = try await program.run("fetch")
    #expect(fetch.status == exit && fetch.output == "", "\(fetch)")
    #expect(fetch.errors.contains(sentence), "\(fetch.errors)")
    let show = try await program.run("source", "show", "--json")
    let object = try #require(try show.objects().first)
    #expect(object["blocked"] as? Bool == (exit == 77 || exit == 78), "\(object)")
    #expect((object["last_error"] as? String)?.contains(sentence) == true, "\(object)")
  }

  @Test func redirectionsOfASourceAreFollowedOnOneServerOnly() async throws {
    let (program, token) = try program()
    let other = try Answers(.status(200, Self.values([5]))).server()
    // A web server sends a page for people together with the redirection.
    let page = Array("<html><h1>302 Found</h1></html>".utf8)
    let elsewhere = try ScriptedServer { _ in
      .status(302, page, headers: ["Location: \(other.url)/sgv.json", "Content-Type: text/html"])
    }
    let refused = try await program.run(
      "source", "set", "a", elsewhere.url, "--type", "http", "--yes", "--token-file", token)
    #expect(refused.status == 76 && refused.errors.contains("redirects are not followed"), "\(refused)")
    #expect(other.connectionCount == 0)
    let circle = try ScriptedServer { _ in .status(302, headers: ["Location: /again"]) }
    let endless = try await program.run("source", "set", "a", circle.url, "--type", "http", "--yes")
    #expect(endless.status == 76 && endless.errors.contains("in a circle"), "\(endless)")
    #expect(circle.requests.count == 4)
    let own = try ScriptedServer { request in
      request.path == "/end" ? .status(200, Self.values([5])) : .status(301, headers: ["Location: /end"])
    }
    let followed = try await program.run(
      "source", "set", "a", own.url, "--type", "http", "--yes", "--token-file", token)
    #expect(followed.status == 0, "\(followed)")
    #expect(own.requests.last?.headers["authorization"] == "Bearer \(Self.secret)")
    let relative = try ScriptedServer { request in
      request.path == "/a/c2" ? .status(200, Self.values([5])) : .status(307, headers: ["Location: c2"])
    }
    let inFolder = try await program.run(
      "source", "set", "b", relative.url + "/a/b", "--type", "http", "--yes")
    #expect(inFolder.status == 0, "\(inFolder)")
  }

  @Test func aStatus401WithoutALoginChallengeDoesNotBlockASource() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    let page = Array("<html>Forbidden</html>".utf8)
    answers.answer = .status(403, page)
    #expect(try await program.run("fetch").status == 76)
    answers.answer = .status(403, page, headers: ["WWW-Authenticate: Basic realm=\"files\""])
    let refused = try await program.run("fetch", "--now")
    #expect(refused.status == 77 && refused.errors.contains("phone: 127.0.0.1"), "\(refused)")
  }

  @Test func truncatedAndTooLargeAnswersOfASourceAreFailures() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server)
    let body = String(decoding: Self.values([10, 5]), as: UTF8.self)
    answers.answer = .raw("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(body)")
    let cut = try await program.run("fetch", "--now")
    #expect(cut.status == 69, "\(cut)")
    // The HTTP answer is complete, but the JSON list in it has no end.
    answers.answer = .status(200, Array(body.dropLast(4).utf8))
    let open = try await program.run("fetch", "--now")
    #expect(open.status == 75 && open.errors.contains("what was read is stored"), "\(open)")
    answers.answer = .raw("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
    let large = try await program.run("fetch", "--now")
    #expect(large.status == 76 && large.errors.contains("longer than 67108864 bytes"), "\(large)")
    answers.answer = .status(200, Array(body.utf8))
    let whole = try await program.run("fetch", "--now")
    #expect(whole.status == 0 && whole.output.hasPrefix("phone: new "), "\(whole)")
  }

  @Test func theLastValueOfAFetchedAnswerWithoutALengthIsNotStored() async throws {
    let (program, _) = try program()
    let table = (0..<6).map { "2026-05-06T10:0\($0):00Z,14\($0)" }.joined(separator: "\n")
    let head = "HTTP/1.0 200 OK\r\n\r\ntime,sensor glucose (mg/dL)\n"
    let answers = Answers(.raw(head + table + "\n"))
    let server = try answers.server()
    answers.answer = .raw(head + table.dropLast(1))
    let set = try await program.run(
      "source", "set", "phone", server.url + "/list.csv", "--type", "http", "--yes", "--format", "generic")
    // `source set` needs a complete answer. The next answer may be complete, so the failure is temporary.
    #expect(set.status == 75, "\(set)")
    answers.answer = .raw(head + table + "\n")
    let again = try await program.run(
      "source", "set", "phone", server.url + "/list.csv", "--type", "http", "--yes", "--format", "generic")
    #expect(again.status == 0, "\(again)")
    answers.answer = .raw(head + table.dropLast(1))
    let cut = try await program.run("fetch", "--now")
    #expect(cut.status == 75 && cut.errors.contains("what was read is stored"), "\(cut)")
    // If an answer is truncated within its first value, this is a failure. It is not accepted as an answer
    // without readings.
    answers.answer = .raw(head + "2026-05-06T10:09:00Z,1")
    let first = try await program.run("fetch", "--now")
    #expect(first.status == 75 && first.errors.contains("no line end"), "\(first)")
    answers.answer = .raw(head + table + "\n")
    #expect(try await program.run("fetch", "--now").status == 0)
    let list = try await program.run("list").output
    #expect(list.contains(" 145 mg/dL") && !list.contains(" 14 mg/dL"), "\(list)")
    // With a `Content-Length`, the answer is known to be complete. So its last line needs no line end.
    let body = "time,sensor glucose (mg/dL)\n\(table)"
    answers.answer = .status(200, Array(body.utf8))
    #expect(try await program.run("fetch", "--now").status == 0)
  }

  /// Finger sticks of a person, four on each of 14 days. Two persons measure at nearly the same minutes, but
  /// with different values.
  private static func sticks(_ person: Int) -> String {
    let rows = (0..<56).map { number in
      let (day, hour) = (number / 4 + 1, [7, 12, 18, 22][number % 4])
      let minute = (day * 7 + number % 4 * 13) % 50 + (person == 0 ? 0 : (day + number) % 4)
      let time =
        "2026-03-\(day < 10 ? "0" : "")\(day) \(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
      return "\(time),\(90 + (day * 37 + number % 4 * 53 + person * 71) % 120)\n"
    }
    return "Time,Glucose (mg/dL)\n" + rows.joined()
  }

  @Test func fetchedFingerSticksThatContradictOthersAreInAWarning() async throws {
    let (program, _) = try program()
    let own = try program.write(Self.sticks(0), to: "own.csv")
    let imported = try await program.run("import", "--quiet", "--timezone", "Europe/Berlin", own)
    #expect(imported.status == 0 && imported.errors.isEmpty, "\(imported)")
    let answers = Answers(.status(200, Array(Self.sticks(1).utf8)))
    let server = try answers.server()
    for accepts in [false, true] {
      let set = try await program.run(
        arguments: [
          "source", "set", "s\(accepts)", server.url + "/a.csv", "--type", "http", "--yes", "--format",
          "generic",
        ]
          + (accepts ? ["--accept-person"] : []))
      #expect(set.status == 0, "\(set)")
    }
    let fetched = try await program.run("fetch", "--quiet", "--now", "sfalse")
    #expect(
      fetched.status == 0 && fetched.errors.contains("sfalse: its finger sticks differ within minutes")
        && fetched.errors.contains("'glucoport source set'"), "\(fetched)")
    // The first source returns the same answer again, so there are no readings for a warning. For the second
    // source, a person accepted the differences.
    for name in ["sfalse", "strue"] {
      let again = try await program.run("fetch", "--quiet", "--now", name)
      #expect(again.status == 0 && again.errors.isEmpty, "\(again)")
    }
  }

  @Test func aFetchedAnswerWithoutUsableReadingsIsNotASuccess() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(200, Array(#"[{"type":"sgv","date":"soon","sgv":100,"device":"x"}]"#.utf8))
    let outcome = try await program.run("fetch", "--unattended")
    #expect(
      outcome.status == 65 && outcome.errors.contains("nothing in the answer can be used"), "\(outcome)")
    #expect(try await program.run("status", "--check", "--quiet").status == 65)
  }

  @Test func anUnchangedAnswerIsAcceptedOnlyAfterAnEarlierAnswer() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .raw("HTTP/1.1 304 Not Modified\r\n\r\n")
    let outcome = try await program.run("fetch", "--now")
    #expect(outcome.status == 76 && outcome.errors.contains("status 304"), "\(outcome)")
  }

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
