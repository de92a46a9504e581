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
  static let now = Int64(Date().timeIntervalSince1970) / 60 * 60

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
}
