// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests which documents API v3 accepts, how it changes them, and which fields are permanent.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutDocumentTests {
  private static let entries = "/api/v3/entries"
  private static let treatments = "/api/v3/treatments"

  @Test func aDocumentIsCreatedReadChangedAndMarkedAsDeleted() throws {
    let caller = try Caller.uploader()
    let made = try caller.post(Self.treatments, Draft.note("n"))
    #expect(made.status == 201)
    #expect(made.json?["identifier"] == "n")
    #expect(made.json?["lastModified"]?.whole == Caller.start)
    #expect(made.headers["location"] == "/api/v3/treatments/n")
    let read = try caller.get("\(Self.treatments)/n")
    #expect(read.result?["_id"] == nil)
    #expect(read.result?["subject"] == "uploader")
    #expect(read.result?["created_at"] == .string(NightscoutTime.iso(Caller.start)))
    #expect(read.headers["last-modified"] == NightscoutTime.http(Caller.start))
    caller.site.moveClock(by: 5000)
    #expect(try caller.patch("\(Self.treatments)/n", ["notes": "second"]).status == 200)
    #expect(try caller.get("\(Self.treatments)/n").result?["srvModified"]?.whole == Caller.start + 5000)
    #expect(try caller.delete("\(Self.treatments)/n").status == 200)
    #expect(try caller.get("\(Self.treatments)/n").status == 410)
    #expect(try caller.get("\(Self.treatments)/other").status == 404)
    #expect(caller.site.documents("treatments").map { $0["isValid"] } == [false])
  }

  @Test(
    arguments: [
      ("{\"app\":\"a\",\"date\":1780000000000}", 201, nil),
      ("{\"app\":\"a\",\"date\":1780000000}", 201, nil),
      ("{\"app\":\"a\",\"date\":4102444800000}", 201, nil),
      ("{\"app\":\"a\",\"date\":\"2026-01-02T03:04:05+02:00\"}", 201, nil),
      ("{\"app\":\"a\",\"created_at\":\"2026-01-02T03:04:05Z\"}", 201, nil),
      ("{\"app\":\"a\",\"date\":946684800}", 400, "Bad or missing date field"),
      ("{\"app\":\"a\"}", 400, "Bad or missing date field"),
      ("{\"app\":\" \",\"date\":1780000000000}", 400, "Bad or missing app field"),
      ("{\"app\":\"a\",\"date\":1780000000000,\"identifier\":7}", 400, "Bad or missing identifier field"),
      ("{\"app\":\"a\",\"date\":1780000000000,\"utcOffset\":1441}", 400, "Bad or missing utcOffset field"),
      ("[{\"app\":\"a\",\"date\":1780000000000}]", 400, "Bad or missing date field"),
      ("{\"app\":\"a\",", 500, nil),
    ] as [(String, Int, String?)])
  func eachPostedDocumentIsAnsweredWithItsStatusAndReason(_ body: String, _ status: Int, _ message: String?)
    throws
  {
    let caller = try Caller.uploader()
    let answer = try caller.call("POST", Self.entries, ["Content-Type: application/json"], Array(body.utf8))
    #expect(answer.status == status)
    #expect(message == nil || answer.message == message)
    #expect(caller.site.documents("entries").count == (status == 201 ? 1 : 0))
  }

  @Test func aBodyOfAnotherTypeOrThatIsTooLongIsRefused() throws {
    let caller = try Caller.uploader { $0.maxBodyBytes = 100 }
    let body = Array(Draft.entry("e").json.utf8)
    #expect(try caller.call("POST", Self.entries, ["Content-Type: text/plain"], body).status == 400)
    #expect(try caller.call("POST", Self.entries, ["Content-Type: application/json"], body).status == 500)
  }

  @Test func aMissingUTCOffsetComesFromTheDateTextOrTheServer() throws {
    let caller = try Caller.uploader { $0.serverOffsetMinutes = -300 }
    for date in ["\"2026-01-02T03:04:05+02:00\"", "1780000000000"] {
      let body = Array("{\"app\":\"a\",\"device\":\"d\",\"date\":\(date)}".utf8)
      _ = try caller.call("POST", Self.entries, ["Content-Type: application/json"], body)
    }
    #expect(caller.site.documents("entries").map { $0["utcOffset"]?.whole } == [120, -300])
  }

  /// `type` is not part of the identifier that the server makes, so both entries get the same identifier.
  @Test func withoutIdentifiersEntriesOfTwoTypesAtOneTimeOverwriteEachOther() throws {
    let caller = try Caller.uploader()
    for kind: DocumentValue in ["mbg", "ketone"] {
      var body = Draft.entry("").object ?? [:]
      body["identifier"] = nil
      body["type"] = kind
      _ = try caller.post(Self.entries, .object(body))
    }
    #expect(caller.site.documents("entries").map { $0["type"] } == ["ketone"])
    let made = caller.site.documents("entries").first?["identifier"]?.text
    #expect(made?.count == 36 && made?.dropFirst(14).first == "5")
  }

  @Test func twoEntriesOfOneSecondWithIdentifiersAreTwoDocuments() throws {
    let caller = try Caller.uploader()
    #expect(try caller.post(Self.entries, Draft.entry("a")).status == 201)
    #expect(try caller.post(Self.entries, Draft.entry("b")).status == 201)
    #expect(caller.site.documents("entries").count == 2)
  }

  @Test func aDotInAnIdentifierIsReadAsAFileFormatUnlessEscaped() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.entries, Draft.entry("a.b"))
    _ = try caller.post(Self.entries, Draft.entry("a"))
    _ = try caller.post(Self.entries, Draft.entry("x/y"))
    #expect(try caller.get("\(Self.entries)/a.b").status == 406)
    #expect(try caller.get("\(Self.entries)/a.json").result?["identifier"] == "a")
    #expect(try caller.get("\(Self.entries)/a%2Eb").result?["identifier"] == "a.b")
    #expect(try caller.get("\(Self.entries)/x%2Fy").result?["identifier"] == "x/y")
    #expect(try caller.get("\(Self.entries)/x/y").status == 404)
  }

  @Test func aRepeatedPostIsReportedAsAChangeToEveryReader() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.entries, Draft.entry("e"))
    caller.site.moveClock(by: 10)
    let again = try caller.post(Self.entries, Draft.entry("e"))
    #expect(again.status == 200)
    #expect(again.json?["isDeduplication"] == true)
    #expect(again.json?["lastModified"]?.whole == Caller.start + 10)
    #expect(caller.site.documents("entries").map { $0["srvCreated"]?.whole } == [Caller.start])
  }

  @Test(
    arguments: [
      ("date", 1_780_000_000_001), ("utcOffset", 0), ("device", "other"), ("app", "other"),
      ("eventType", "Meal"),
      ("isValid", true), ("srvModified", 1), ("subject", "other"), ("identifier", "other"),
    ] as [(String, DocumentValue)])
  func immutableFieldsOfADocumentCannotBeChanged(_ field: String, _ value: DocumentValue) throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    let message = "Field \(field) cannot be modified by the client"
    let change = Draft.note("n", [field: value])
    #expect(try caller.patch("\(Self.treatments)/n", .object([field: value])).message == message)
    // A PUT takes the document's identifier from the path, whatever the body contains.
    if field != "identifier" {
      #expect(try caller.put("\(Self.treatments)/n", change).message == message)
      let answer = try caller.post(Self.treatments, change)
      #expect(answer.status == 400)
      #expect(answer.message == message)
    }
  }

  @Test func omittingTheUTCOffsetInALaterRequestIsRefusedAsAChange() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    var later = Draft.note("n").object ?? [:]
    later["utcOffset"] = nil
    let message = "Field utcOffset cannot be modified by the client"
    #expect(try caller.post(Self.treatments, .object(later)).message == message)
    #expect(try caller.put("\(Self.treatments)/n", .object(later)).message == message)
    #expect(try caller.patch("\(Self.treatments)/n", ["notes": "x"]).status == 200)
  }

  @Test func fieldsThatAPutOmitsAreRemoved() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    var without = Draft.note("n").object ?? [:]
    without["device"] = nil
    #expect(try caller.put("\(Self.treatments)/n", .object(without)).status == 200)
    #expect(caller.site.documents("treatments").map { $0["device"] } == [nil])
    #expect(caller.site.documents("treatments").map { $0["subject"] } == ["uploader"])
    let answer = try caller.put("\(Self.treatments)/n", Draft.note("n"))
    #expect(answer.message == "Field device cannot be modified by the client")
  }

  @Test func aPatchCanMakeCreatedAtDifferFromTheDate() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    let answer = try caller.patch("\(Self.treatments)/n", ["created_at": "2001-02-03T04:05:06.000Z"])
    #expect(answer.status == 200)
    #expect(caller.site.documents("treatments").first?["created_at"] == "2001-02-03T04:05:06.000Z")
    #expect(caller.site.documents("treatments").first?["date"]?.whole == Caller.start)
  }

  @Test func aPatchAcceptsPathsOfFieldsButNoIDOfTheDocument() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n", ["boluscalc": ["carbs": 10, "cob": 1]]))
    let path = "\(Self.treatments)/n"
    #expect(try caller.patch(path, ["boluscalc.carbs": 20, "notes": nil]).status == 200)
    let stored = caller.site.documents("treatments").first
    #expect(stored?["boluscalc"] == ["carbs": 20, "cob": 1])
    #expect(stored?["notes"] == .null)
    #expect(try caller.patch(path, ["_id": "x"]).status == 500)
  }

  @Test func aPatchOfADurationAlsoSetsTheEndTime() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    _ = try caller.patch("\(Self.treatments)/n", ["duration": 30])
    let stored = caller.site.documents("treatments").first
    #expect(stored?["durationInMilliseconds"] == 1_800_000)
    #expect(stored?["endmills"]?.whole == Caller.start + 1_800_000)
  }

  @Test func aReadOnlyDocumentCannotBeChanged() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n", ["isReadOnly": true]))
    let path = "\(Self.treatments)/n"
    let statuses = try [
      caller.post(Self.treatments, Draft.note("n")), caller.put(path, Draft.note("n")),
      caller.patch(path, ["notes": "x"]), caller.delete(path), caller.delete(path + "?permanent=true"),
    ].map(\.status)
    #expect(statuses == [422, 422, 422, 422, 422])
  }

  @Test func onlyAPostRestoresADeletedDocument() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    _ = try caller.delete("\(Self.treatments)/n")
    #expect(try caller.patch("\(Self.treatments)/n", ["notes": "x"]).status == 410)
    #expect(try caller.put("\(Self.treatments)/n", Draft.note("n")).status == 410)
    // A POST that restores a document can change all fields, including the immutable ones.
    let revival = try caller.post(Self.treatments, Draft.note("n", at: Caller.start + 1, ["app": "other"]))
    #expect(revival.status == 200)
    #expect(try caller.get("\(Self.treatments)/n").status == 200)
    #expect(caller.site.documents("treatments").map { $0["isValid"] } == [nil])
  }

  @Test func aRepeatedDeletionIsAChangeAndAPermanentOneLeavesNothing() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, Draft.note("n"))
    _ = try caller.delete("\(Self.treatments)/n")
    caller.site.moveClock(by: 10)
    #expect(try caller.delete("\(Self.treatments)/n").status == 200)
    let history = "\(Self.treatments)/history/\(Caller.start)"
    #expect(try caller.get(history).list.map { $0["srvModified"]?.whole } == [Caller.start + 10])
    #expect(try caller.delete("\(Self.treatments)/n?permanent=true").status == 200)
    #expect(try caller.get(history).list.isEmpty)
    #expect(try caller.delete("\(Self.treatments)/n").status == 404)
    // A PUT restores the document. The `Location` in its answer is a path that does not exist.
    let put = try caller.put("\(Self.treatments)/n", Draft.note("n"))
    #expect(put.status == 201)
    #expect(put.headers["location"] == "/api/v3/treatments/n/n")
    #expect(try caller.patch("\(Self.treatments)/absent", ["notes": "x"]).status == 404)
  }

  @Test func unknownPathsAreNotCollections() throws {
    let caller = try Caller.uploader()
    let answer = try caller.get("/api/v3/readings")
    #expect(answer.status == 404)
    #expect(answer.message == "Bad operation or collection")
  }

  @Test func theReportedVersionIsThatOfTheNightscoutRelease() throws {
    let site = try Caller.site()
    let answer = try Caller(site, headers: []).get("/api/v3/version").result
    #expect(answer?["version"] == "15.0.7")
    #expect(answer?["apiVersion"] == "3.0.3-alpha")
    #expect(answer?["srvDate"]?.whole == Caller.start)
  }
}
