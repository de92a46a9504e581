// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import TestServers
import Testing

/// Tests answers of real services that a source must handle, and similar invented answers.
extension FetchTests {
  @Test(
    arguments: [
      (200, #"{"status":4,"data":{"step":{"type":"pp","componentName":"AcceptDocument"}}}"#, 77, "new terms"),
      (200, #"{"status":4,"data":{"step":{"type":"verifyEmail"}}}"#, 77, "confirm the e-mail address"),
      (200, #"{"status":4,"data":{"step":{"type":"dance"}}}"#, 77, "finish what it asks for"),
      (200, #"{"status":0,"data":{"redirect":true,"region":"a.b/"}}"#, 78, "in another region; set"),
      (403, #"{"status":920}"#, 76, "wants a newer version of its app"),
      (403, #"{"data":{"minimumVersion":"../../etc"},"status":920}"#, 76, "wants a newer version of its app"),
      (200, #"{"status":911}"#, 75, "in maintenance"), (430, "<html>blocked</html>", 76, "a web page"),
      (403, #"{"message":"invalid or expired jwt"}"#, 75, "the session with LibreLinkUp has ended"),
      (500, #"{"Code":"SessionIdNotFound"}"#, 75, "the session with Dexcom Share has ended"),
      (200, #""""#, 65, "unknown format"),
      (200, #""00000000-0000-0000-0000-000000000000""#, 65, "unknown format"),
    ])
  func eachErrorOfTheLoginAtASourceIsReportedWithItsMessage(
    _ status: Int, _ body: String, _ exit: Int32, _ sentence: String
  ) async throws {
    try await expectTrouble(status, body, exit, sentence)
  }

  /// The error text of a service may contain a token or a name. It must not be printed, because a job sends
  /// all printed text by mail.
  @Test(arguments: [
    (401, #"{"error":"SECRET of NAME is unknown"}"#), (200, #"{"message":"SECRET NAME"}"#),
    (200, #"{"status":2,"error":{"message":"SECRET NAME"}}"#), (200, #"{"Code":"SECRET","Message":"NAME"}"#),
    (200, #"{"status":4,"data":{"step":{"type":"SECRET NAME"}}}"#), (200, "<html><title>SECRET NAME</title>"),
    (200, #"{"status":500,"message":"SECRET","description":"NAME"}"#),
    (200, #"{"fault":{"faultstring":"NAME"}}"#),
    (200, #"[{"type":"sgv","date":"SECRET","sgv":100,"device":"NAME"}]"#), (200, "SECRET,NAME\n1,2\n"),
    (403, #"{"data":{"minimumVersion":"SECRET NAME"},"status":920}"#),
    (200, #"{"status":0,"data":{"redirect":true,"region":"NAME"}}"#),
  ])
  func noErrorMessageQuotesTheAnswerOfASource(_ status: Int, _ body: String) async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([5])))
    let server = try answers.server()
    try await set(program, server)
    let name = "Lovelace"
    answers.answer = .status(
      status, Array(body.replacing("SECRET", with: Self.secret).replacing("NAME", with: name).utf8))
    let fetch = try await program.run("fetch")
    #expect(fetch.status != 0 && fetch.errors.hasPrefix("glucoport: "), "\(fetch)")
    for outcome in [fetch, try await program.run("source", "show"), try await program.run("status")] {
      let text = outcome.output + outcome.errors
      #expect(!text.contains(Self.secret) && !text.contains(name), "\(outcome)")
    }
  }

  @Test func bothPassesOfTheRepeatedHourOfAFetchedGraphAreStored() async throws {
    let (program, _) = try program()
    // In this night, clocks in Madrid show 02:30 twice. Both values are equal.
    let points = ["12:30:00 AM", "1:30:00 AM"].map { utc in
      #"{"FactoryTimestamp":"10/26/2025 \#(utc)","Timestamp":"10/26/2025 2:30:00 AM","type":0,"ValueInMgPerDl":120}"#
    }
    let body =
      #"{"status":0,"data":{"connection":{"patientId":"a"},"activeSensors":[],"graphData":[\#(points.joined(separator: ","))]}}"#
    let graph = try Answers(.status(200, Array(body.utf8))).server()
    try await set(program, graph)
    #expect(try await program.run("fetch").output == "phone: new 2 · known 0\n")
    // This source returns a table of shown times without offsets. Its next answer repeats the rows and adds a
    // later one.
    let rows = ["01:50", "02:20", "02:50", "02:20", "02:50", "03:20", "03:50"].enumerated().map {
      "2025-10-26 \($1),\(130 + $0)\n"
    }
    let table = Answers(
      .status(200, Array(("time,sensor glucose (mg/dL)\n" + rows.dropLast().joined()).utf8)))
    let wall = try table.server()
    let set = try await program.run(
      "source", "set", "wall", wall.url, "--type", "http", "--yes", "--timezone",
      "Europe/Madrid")
    #expect(set.status == 0, "\(set)")
    #expect(try await program.run("fetch", "wall").output == "wall: new 6 · known 0\n")
    // The next answer lacks the first row, since the source keeps only its latest values.
    table.answer = .status(
      200, Array(("time,sensor glucose (mg/dL)\n" + rows.dropFirst().joined()).utf8))
    #expect(try await program.run("fetch", "wall").output.hasPrefix("wall: new 1 · known 5\n"))
    let list = try await program.run("list", "--format", "ndjson", "--kind", "cbg")
    let times = try list.objects().compactMap { $0["device_time"] as? String }
    #expect(times.count == 9, "\(times)")
    #expect(times.filter { $0 == "2025-10-26T02:20:00" }.count == 2, "\(times)")
  }

  @Test func aFetchedValueThatChangedAtTheSourceIsCounted() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.libre(graph: [("9:00:00", 120), ("9:05:00", 130)])))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").output == "phone: new 2 · known 0\n")
    answers.answer = .status(200, Self.libre(graph: [("9:00:00", 120), ("9:05:00", 77)]))
    let result = try #require(try await program.run("fetch", "--json").objects().first)
    #expect(result["known_readings"] as? Int == 1 && result["changed_readings"] as? Int == 1, "\(result)")
    answers.answer = .status(200, Self.libre(graph: [("9:00:00", 121), ("9:05:00", 77)]))
    let again = try await program.run("fetch").output
    #expect(again == "phone: new 0 · known 0 · changed at the source 2\n", "\(again)")
  }

  @Test func theOrderOfPersonsInAFetchedAnswerDoesNotMatter() async throws {
    let (program, _) = try program()
    func graph(_ id: String, _ value: Int) -> String {
      String(decoding: Self.libre(graph: [("9:00:00", value)], of: id, "Anna"), as: UTF8.self)
    }
    // The answer has the values of two persons with the same first name.
    let answers = Answers(.status(200, Array((graph("aaaa-1", 120) + "\n" + graph("bbbb-2", 180)).utf8)))
    let server = try answers.server()
    try await set(program, server, "--patient", "bbbb-2")
    #expect(try await program.run("fetch").output == "phone: new 1 · known 0\n")
    answers.answer = .status(200, Array((graph("bbbb-2", 180) + "\n" + graph("aaaa-1", 120)).utf8))
    #expect(try await program.run("fetch").output == "phone: new 0 · known 1\n")
    let list = try await program.run("list")
    #expect(list.output.contains("180 mg/dL") && !list.output.contains("120 mg/dL"), "\(list)")
  }

  @Test func aFetchedAnswerInPiecesOrCompressedIsRead() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server)
    let body = Self.values([60, 10])
    let pieces = stride(from: 0, to: body.count, by: 7).map { start in
      let piece = body[start..<min(start + 7, body.count)]
      return "\(String(piece.count, radix: 16))\r\n\(String(decoding: piece, as: UTF8.self))\r\n"
    }
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answers.answer = .raw(head + pieces.dropLast().joined())
    let cut = try await program.run("fetch")
    #expect(cut.status == 69, "\(cut)")
    answers.answer = .raw(head + pieces.joined() + "0\r\n\r\n")
    let whole = try await program.run("fetch", "--now")
    #expect(whole.output == "phone: new 2 · known 0\n", "\(whole)")
    // The program asks for an uncompressed answer. It also reads a compressed one, since some servers
    // compress every answer.
    #expect(server.requests.last?.headers["accept-encoding"] == "identity")
    answers.answer = .status(200, StoredGzip.packed(body), headers: ["Content-Encoding: gzip"])
    let compressed = try await program.run("fetch", "--now")
    #expect(compressed.status == 0, "\(compressed)")
    let list = try await program.run("list", "--format", "ndjson", "--kind", "cbg")
    #expect(try list.objects().count == 2)
  }

  @Test func aFetchedAnswerThatArrivesByteByByteEndsAtTheTimeLimit() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server, "--max-time", "1s")
    answers.answer = .raw("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n[", .drip)
    let slow = try await program.run("fetch", "--unattended", "--quiet", "--now")
    #expect(slow.status == 75 && slow.errors == "", "\(slow)")
    let show = try await program.run("source", "show")
    #expect(show.output.contains("last error phone: "), "\(show)")
  }

  /// A `Retry-After` header of a busy server, and how many seconds the program waits, even with `--now`. If
  /// the header is invalid, the number is nil.
  @Test(arguments: [
    ("-5", nil), ("x", nil), ("", nil), ("Wed, 06 May 2020 16:31:30 GMT", nil), ("120", 120),
    ("1000000000", 21600), ("99999999999999999999", 21600),
  ])
  func theWaitThatASourceAsksForIsLimitedToSixHours(_ header: String, _ seconds: Int?) async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([60])))
    let server = try answers.server()
    try await set(program, server)
    answers.answer = .status(
      429, headers: ["Date: Thu, 27 Nov 2025 10:00:00 GMT", "Retry-After: \(header)"])
    #expect(try await program.run("fetch").status == 75)
    answers.answer = .status(200, Self.values([60, 5]))
    let object = try #require(try await program.run("source", "show", "--json").objects().first)
    let again = try await program.run("fetch", "--now")
    #expect(again.status == (seconds == nil ? 0 : 75), "\(again)")
    func time(_ name: String) -> Date? {
      (object[name] as? String).flatMap { try? Date($0, strategy: .iso8601) }
    }
    let (asked, next) = (try #require(time("last_attempt")), try #require(time("next_attempt")))
    let wait = next.timeIntervalSince(asked)
    #expect(seconds.map { wait == Double($0) } ?? (wait <= 30), "\(object)")
  }

  @Test func aFetchedFutureValueDoesNotHideMissingValues() async throws {
    let (program, _) = try program()
    let answers = Answers(.status(200, Self.values([600, 595, -3000])))
    let server = try answers.server()
    try await set(program, server)
    #expect(try await program.run("fetch").status == 0)
    try ageAnswers(of: program)
    answers.answer = .status(200, Self.values([10, 5, -3000]))
    let fetch = try await program.run("fetch")
    #expect(fetch.status == 0, "\(fetch)")
    let object = try #require(try await program.run("source", "show", "--json").objects().first)
    #expect((object["holes"] as? [Any])?.count == 1, "\(object)")
  }
}
