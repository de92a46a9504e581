// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests how API v1 changes documents, and how API v1 and v3 use the same database.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutBulkTests {
  private static let entries = "/api/v1/entries.json"
  private static let treatments = "/api/v1/treatments.json"
  private static let text = NightscoutTime.iso(Caller.start)

  @Test func entriesPostedInBulkToAPIv1AreFoundByIdentifierInAPIv3() throws {
    let caller = try Caller.uploader()
    let sent = (0..<3).map { Draft.entry("e\($0)", at: Caller.start + $0 * 1000) }
    let answer = try Caller(secretOf: caller.site).post(Self.entries, .array(sent))
    #expect(answer.status == 200)
    #expect(answer.list.allSatisfy { $0["_id"]?.text?.count == 24 })
    #expect(try caller.get("/api/v3/entries/e1").result?["app"] == "a test")
    #expect(try caller.patch("/api/v3/entries/e1", ["notes": "x"]).status == 200)
    // A PUT must repeat the UTC offset that API v1 stored.
    let put = Draft.entry("e2", at: Caller.start + 2000, ["utcOffset": 0])
    #expect(try caller.put("/api/v3/entries/e2", put).status == 200)
    #expect(try caller.delete("/api/v3/entries/e2").status == 200)
    #expect(try caller.get("/api/v3/entries/history/946684800000").identifiers == ["e1", "e2"])
    #expect(try Caller(secretOf: caller.site).post(Self.entries, []).list == [])
  }

  @Test func aBulkPostReturnsKeysOnlyForAddedEntries() throws {
    let caller = Caller(secretOf: try Caller.site())
    #expect(try caller.post(Self.entries, Draft.entry("e")).list.map { $0["_id"] != nil } == [true])
    #expect(try caller.post(Self.entries, Draft.entry("e")).list.map { $0["_id"] != nil } == [false])
    #expect(caller.site.documents("entries").count == 1)
  }

  @Test func entriesOfTwoMetersAtOneSecondAreMergedIntoOneDocumentByAPIv1() throws {
    let caller = Caller(secretOf: try Caller.site())
    let first = Draft.entry("a", ["mbg": 100, "notes": "first"])
    let second = Draft.entry("b", ["mbg": 200, "device": "another meter"])
    _ = try caller.post(Self.entries, [first, second])
    let stored = try #require(caller.site.documents("entries").first)
    #expect(caller.site.documents("entries").count == 1)
    #expect(stored["identifier"] == "b" && stored["mbg"] == 200 && stored["notes"] == "first")
  }

  @Test func apiV1StoresTwoEntriesWithTheSameIdentifier() throws {
    let caller = Caller(secretOf: try Caller.site())
    _ = try caller.post(Self.entries, [Draft.entry("e"), Draft.entry("e", at: Caller.start + 1000)])
    #expect(caller.site.documents("entries", identifier: "e").count == 2)
  }

  @Test func apiV1TakesTheUTCOffsetFromTheDateTextAndStoresTheTextInUTC() throws {
    let caller = Caller(secretOf: try Caller.site())
    let local = Draft.entry("e", ["dateString": "2026-05-28T22:26:40.000+02:00", "utcOffset": 7])
    _ = try caller.post(Self.entries, [local])
    let stored = caller.site.documents("entries").first
    #expect(stored?["utcOffset"] == 120)
    #expect(stored?["dateString"] == .string(Self.text))
    #expect(stored?["sysTime"] == .string(Self.text))
  }

  @Test func bothAPIVersionsFindAStoredEntryOnlyIfItHasASysTime() throws {
    let caller = try Caller.uploader()
    let bulk = Caller(secretOf: caller.site)
    _ = try caller.post("/api/v3/entries", Draft.entry("without"))
    _ = try bulk.post(Self.entries, [Draft.entry("without")])
    #expect(caller.site.documents("entries", identifier: "without").count == 2)
    let later = Caller.start + 60_000
    let text = DocumentValue.string(NightscoutTime.iso(later))
    let with = Draft.entry("with", at: later, ["sysTime": text, "dateString": text])
    _ = try caller.post("/api/v3/entries", with)
    caller.site.moveClock(by: 1000)
    _ = try bulk.post(Self.entries, [with])
    let stored = caller.site.documents("entries", identifier: "with")
    #expect(stored.count == 1)
    #expect(stored.first?["srvModified"]?.whole == Caller.start)
  }

  @Test func aDeletedEntryPostedToAPIv1IsChangedAndStaysDeleted() throws {
    let caller = try Caller.uploader()
    let bulk = Caller(secretOf: caller.site)
    _ = try bulk.post(Self.entries, [Draft.entry("e")])
    _ = try caller.delete("/api/v3/entries/e")
    #expect(try bulk.post(Self.entries, [Draft.entry("e", ["mbg": 55])]).status == 200)
    #expect(caller.site.documents("entries").map { $0["mbg"] } == [55])
    #expect(try caller.get("/api/v3/entries/e").status == 410)
    #expect(try bulk.get(Self.entries).list.count == 1)
  }

  @Test func oneInvalidEntryStopsTheRestOfABulkPost() throws {
    let caller = Caller(secretOf: try Caller.site())
    let bad = Draft.entry("bad", ["$set": 1])
    let answer = try caller.post(
      Self.entries, [Draft.entry("a"), bad, Draft.entry("c", at: Caller.start + 1000)])
    #expect(answer.status == 500)
    #expect(answer.message == "Mongo Error")
    #expect(answer.json?["description"]?["writeErrors"]?.array?.first?["index"] == 1)
    #expect(caller.site.documents("entries").map { $0["identifier"] } == ["a"])
  }

  @Test func apiV1DoesNotCheckTheContentOfABulkEntry() throws {
    let caller = Caller(secretOf: try Caller.site())
    let strange: DocumentValue = [["date": "yesterday"], ["type": "mbg"], ["mbg": 5, "date": 1]]
    #expect(try caller.post(Self.entries, strange).status == 200)
    #expect(caller.site.documents("entries").count == 3)
  }

  /// According to Nightscout's documentation, a POST finds the matching document of an older API. In fact the
  /// server refuses the POST.
  @Test func aPostThatMatchesADocumentOfAPIv1IsAlwaysRefused() throws {
    let caller = try Caller.uploader()
    let phone = caller.site.actAsPhoneApp()
    phone.addEntry(["type": "mbg", "date": DocumentValue(Caller.start), "device": "a meter", "mbg": 101])
    phone.addTreatment(["eventType": "Note", "created_at": .string(Self.text), "notes": "x"])
    let entry = Draft.entry("mine", ["utcOffset": 0])
    for _ in 0..<2 {
      let answer = try caller.post("/api/v3/entries", entry)
      #expect(answer.status == 400)
      #expect(answer.message == "Field app cannot be modified by the client")
      let note = try caller.post("/api/v3/treatments", Draft.note("mine"))
      #expect(note.message == "Field date cannot be modified by the client")
    }
    caller.site.change { $0.meetsLegacyDocuments = false }
    #expect(try caller.post("/api/v3/entries", entry).status == 201)
    #expect(caller.site.documents("entries").count == 2)
  }

  @Test func aPostReplacesADocumentOfAPIv1WithEqualImmutableFields() throws {
    let caller = try Caller.uploader()
    let id = caller.site.actAsPhoneApp().addEntry([
      "type": "mbg", "date": DocumentValue(Caller.start), "device": "a meter", "app": "a test",
    ])
    let answer = try caller.post("/api/v3/entries", Draft.entry("mine", ["utcOffset": 0]))
    #expect(answer.status == 200)
    #expect(answer.json?["deduplicatedIdentifier"]?.text == id)
    #expect(caller.site.documents("entries").map { $0["identifier"] } == ["mine"])
  }

  @Test func apiV1ReplacesATreatmentAndDropsFieldsThatWereNotSent() throws {
    let caller = try Caller.uploader()
    _ = try caller.post("/api/v3/treatments", Draft.note("n", ["foreign": 1]))
    let sent: DocumentValue = [
      "identifier": "n", "eventType": "Note", "notes": "x", "created_at": "2026-05-28T22:26:40+02:00",
      "utcOffset": 5,
    ]
    #expect(try Caller(secretOf: caller.site).post(Self.treatments, sent).status == 200)
    let stored = try #require(caller.site.documents("treatments").first)
    #expect(caller.site.documents("treatments").count == 1)
    #expect(stored["foreign"] == nil && stored["srvModified"] == nil)
    #expect(stored["created_at"] == .string(Self.text))
    #expect(stored["utcOffset"] == 120)
  }

  @Test func onlyAPIv1EscapesTextsAsHTML() throws {
    let caller = try Caller.uploader()
    let notes: NightscoutDocument = ["notes": "5 < 6 & x"]
    _ = try caller.post("/api/v3/treatments", Draft.note("three", notes))
    for _ in 0..<2 {
      _ = try Caller(secretOf: caller.site).post(Self.treatments, Draft.note("one", notes))
      #expect(
        caller.site.documents("treatments").map { $0["notes"] } == ["5 < 6 & x", "5 &lt; 6 &amp; x"])
    }
  }

  @Test func apiV1ConvertsTextsToNumbersAndDropsEmptyOnes() throws {
    let caller = Caller(secretOf: try Caller.site())
    let sent: DocumentValue = [
      "eventType": "Meal Bolus", "carbs": "20", "insulin": 0, "glucose": "0", "glucoseType": "Finger",
      "units": "mg/dl", "notes": "", "percent": 0, "duration": "15",
    ]
    _ = try caller.post(Self.treatments, sent)
    var stored = try #require(caller.site.documents("treatments").first)
    stored["_id"] = nil
    #expect(
      stored == [
        "eventType": "Meal Bolus", "carbs": 20, "duration": 15, "created_at": .string(Self.text),
        "utcOffset": 0,
      ])
  }

  @Test func aMealWithAPreBolusIsStoredAsTwoDocuments() throws {
    let caller = Caller(secretOf: try Caller.site())
    let sent: DocumentValue = [
      "eventType": "Meal Bolus", "carbs": 20, "insulin": 2, "preBolus": 15, "created_at": .string(Self.text),
    ]
    _ = try caller.post(Self.treatments, sent)
    let stored = caller.site.documents("treatments")
    #expect(stored.map { $0["carbs"] } == [nil, 20])
    #expect(stored.last?["created_at"]?.text == NightscoutTime.iso(Caller.start + 900_000))
  }

  @Test func aPutToAPIv1MatchesByIdentifierKeyOrTime() throws {
    let caller = Caller(secretOf: try Caller.site())
    _ = try caller.post(Self.treatments, Draft.note("n"))
    let id = caller.site.documents("treatments").first?["_id"]
    for key: NightscoutDocument in [["identifier": "n"], ["_id": id ?? ""], [:]] {
      let body = key.merging(["created_at": .string(Self.text), "notes": .string("\(key.keys)")]) { $1 }
      #expect(try caller.put("/api/v1/treatments/", .object(body)).status == 200)
      #expect(caller.site.documents("treatments").map { $0["_id"] } == [id])
      #expect(caller.site.documents("treatments").map { $0["notes"] } == [body["notes"]])
    }
  }

  @Test func aDeletionInAPIv1IsPermanentAndWithoutAQueryCoversFourDays() throws {
    let caller = Caller(secretOf: try Caller.site())
    let day: Int64 = 86_400_000
    let sent = (0..<7).map { Draft.entry("e\($0)", at: Caller.start - $0 * day) }
    _ = try caller.post(Self.entries, .array(sent))
    let id = try #require(caller.site.documents("entries").first?["_id"]?.text)
    #expect(try caller.delete("/api/v1/entries/\(id)").status == 200)
    #expect(caller.site.documents("entries").count == 6)
    let border = Caller.start - 6 * day
    #expect(try caller.delete("/api/v1/entries?find[date][$lte]=\(border)&count=0").status == 200)
    #expect(caller.site.documents("entries").count == 5)
    #expect(try caller.delete(Self.entries).status == 500)
    #expect(caller.site.documents("entries").map { $0["identifier"] } == ["e5"])
  }

  @Test func aReadWithoutAQueryReturnsTenEntriesOfTheLastFourDays() throws {
    let caller = Caller(secretOf: try Caller.site())
    let sent = (0..<12).map { Draft.entry("e\($0)", at: Caller.start - $0 * 3_600_000) }
    _ = try caller.post(Self.entries, .array(sent + [Draft.entry("old", at: Caller.start - 5 * 86_400_000)]))
    #expect(try caller.get(Self.entries).list.count == 10)
    #expect(try caller.get("\(Self.entries)?count=100").list.count == 12)
    #expect(try caller.get("/api/v1/entries/mbg.json?count=1").identifiers == ["e0"])
    #expect(try caller.get("\(Self.entries)?find[date][$gte]=0&count=100").list.count == 13)
    #expect(try caller.get("\(Self.entries)?find[mbg]=101&find[type]=mbg&count=100").list.count == 12)
    // The server compares times of events, so a change to an old document is not noticed.
    let since = "If-Modified-Since: \(NightscoutTime.http(Caller.start))"
    #expect(try caller.get(Self.entries, [since]).status == 304)
  }

  @Test func aReadOfTreatmentsReturnsAtMost100OrWithAQuery1000() throws {
    let caller = Caller(secretOf: try Caller.site())
    _ = try caller.post(
      Self.treatments,
      .array((0..<120).map { .object(["eventType": "Note", "created_at": .string(Self.time($0))]) }))
    #expect(try caller.get(Self.treatments).list.count == 100)
    #expect(try caller.get("/api/v1/treatments?find[eventType]=Note").list.count == 120)
  }

  @Test func theStatusReportsTheTimeOfTheServer() throws {
    let answer = try Caller(secretOf: try Caller.site()).get("/api/v1/status.json").json
    #expect(answer?["version"] == "15.0.7")
    #expect(answer?["serverTimeEpoch"]?.whole == Caller.start)
  }

  private static func time(_ index: Int64) -> String { NightscoutTime.iso(Caller.start - index * 1000) }
}
