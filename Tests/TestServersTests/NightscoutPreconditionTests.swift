// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests what prevents one write from overwriting another, and what does not.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutPreconditionTests {
  private static let path = "/api/v3/treatments/n"

  private func uploader() throws -> Caller {
    let caller = try Caller.uploader()
    _ = try caller.post("/api/v3/treatments", Draft.note("n"))
    return caller
  }

  private func unmodified(since milliseconds: Int64) -> [String] {
    ["If-Unmodified-Since: \(NightscoutTime.http(milliseconds))"]
  }

  @Test func aWriteAfterALaterChangeIsStatus412() throws {
    let caller = try uploader()
    caller.site.moveClock(by: 1000)
    _ = try caller.patch(Self.path, ["notes": "somebody's"])
    let since = unmodified(since: Caller.start)
    #expect(try caller.patch(Self.path, ["notes": "mine"], since).status == 412)
    #expect(try caller.put(Self.path, Draft.note("n"), since).status == 412)
    #expect(try caller.patch(Self.path, ["notes": "x"], unmodified(since: Caller.start + 1000)).status == 200)
  }

  @Test func twoEditsWithinOneSecondAreBothAcceptedAndOneIsLost() throws {
    let caller = try uploader()
    let since = unmodified(since: Caller.start)
    caller.site.moveClock(by: 400)
    #expect(try caller.patch(Self.path, ["notes": "one"], since).status == 200)
    caller.site.moveClock(by: 400)
    #expect(try caller.patch(Self.path, ["notes": "two"], since).status == 200)
    #expect(try caller.get(Self.path).result?["notes"] == "two")
  }

  @Test func aPreconditionWithAnInvalidDateIsIgnored() throws {
    let caller = try uploader()
    caller.site.moveClock(by: 60_000)
    _ = try caller.patch(Self.path, ["notes": "somebody's"])
    let answer = try caller.patch(Self.path, ["notes": "mine"], ["If-Unmodified-Since: So, 01 Mär 2026"])
    #expect(answer.status == 200)
  }

  @Test func theChangeTimeInTheBodyIsComparedToTheMillisecond() throws {
    let caller = try uploader()
    let known = DocumentValue(Caller.start)
    caller.site.moveClock(by: 1)
    #expect(try caller.patch(Self.path, ["notes": "one", "srvModified": known]).status == 200)
    let late = try caller.patch(Self.path, ["notes": "two", "srvModified": known])
    #expect(late.status == 400)
    #expect(late.message == "Field srvModified cannot be modified by the client")
    #expect(try caller.get(Self.path).result?["notes"] == "one")
  }

  @Test func aDeletionIgnoresThePrecondition() throws {
    let caller = try uploader()
    caller.site.moveClock(by: 60_000)
    _ = try caller.patch(Self.path, ["notes": "somebody's"])
    #expect(try caller.delete(Self.path, unmodified(since: Caller.start)).status == 200)
  }

  @Test func aPatchRefusedForSeveralReasonsReportsADeletionFirst() throws {
    let caller = try uploader()
    let since = unmodified(since: Caller.start - 60_000)
    let wrong: DocumentValue = ["app": "other"]
    #expect(try caller.patch(Self.path, wrong, since).status == 412)
    #expect(try caller.patch(Self.path, wrong).status == 400)
    _ = try caller.patch(Self.path, ["isReadOnly": true])
    #expect(try caller.patch(Self.path, wrong, since).status == 412)
    #expect(try caller.patch(Self.path, wrong).status == 422)
    caller.site.put(["identifier": "gone", "isValid": false, "isReadOnly": true], in: "treatments")
    #expect(try caller.patch("/api/v3/treatments/gone", wrong, since).status == 410)
  }

  @Test func aReadWithACurrentModificationTimeIsStatus304() throws {
    let caller = try uploader()
    caller.site.moveClock(by: 400)
    _ = try caller.patch(Self.path, ["notes": "x"])
    let since = "If-Modified-Since: \(NightscoutTime.http(Caller.start))"
    #expect(try caller.get(Self.path, [since]).status == 304)
    caller.site.moveClock(by: 1000)
    _ = try caller.patch(Self.path, ["notes": "y"])
    #expect(try caller.get(Self.path, [since]).status == 200)
  }

  @Test func sixConcurrentPostsCreateSixDocumentsAndADeletionMarksOne() async throws {
    let caller = try Caller.uploader { $0.looksBeforeWrite = 6 }
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<6 {
        group.addTask { try await Apart.run { try caller.post("/api/v3/entries", Draft.entry("e")).status } }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses == [201, 201, 201, 201, 201, 201])
    #expect(caller.site.documents("entries", identifier: "e").count == 6)
    caller.site.change { $0.looksBeforeWrite = 1 }
    #expect(try caller.delete("/api/v3/entries/e").status == 200)
    #expect(caller.site.documents("entries").count { $0["isValid"] != false } == 5)
    #expect(try caller.get("/api/v3/entries").list.count == 5)
  }
}
