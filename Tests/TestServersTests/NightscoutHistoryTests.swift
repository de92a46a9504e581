// SPDX-License-Identifier: Apache-2.0

import TestServers
import Testing

/// Tests which changes on a site a client finds through the history, and which it misses.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutHistoryTests {
  private static let entries = "/api/v3/entries"
  private static let history = "/api/v3/entries/history"

  @Test func theHistoryListsChangesInOrderIncludingDeletions() throws {
    let caller = try Caller.uploader()
    for name in ["a", "b", "c"] {
      caller.site.moveClock(by: 1000)
      _ = try caller.post(Self.entries, Draft.entry(name))
    }
    caller.site.moveClock(by: 1000)
    _ = try caller.delete("\(Self.entries)/a")
    let all = try caller.get("\(Self.history)/946684800000?limit=1000")
    #expect(all.identifiers == ["b", "c", "a"])
    #expect(all.list.map { $0["isValid"] } == [nil, nil, false])
    #expect(all.headers["etag"] == "W/\"\(Caller.start + 4000)\"")
    #expect(all.headers["last-modified"] == NightscoutTime.http(Caller.start + 4000))
    // With a time in the path, the history excludes changes at this time. With a time in the header, it
    // includes all changes of this second.
    #expect(try caller.get("\(Self.history)/\(Caller.start + 3000)").identifiers == ["a"])
    let since = "Last-Modified: \(NightscoutTime.http(Caller.start + 3000))"
    #expect(try caller.get(Self.history, [since]).identifiers == ["c", "a"])
    let none = try caller.get("\(Self.history)/\(Caller.start + 4000)")
    #expect(none.list.isEmpty)
    #expect(none.headers["etag"] == nil)
  }

  @Test(arguments: ["0", "946684799", "x", "946684800000?limit=0", "946684800000?limit=1001"])
  func aHistoryStartOrLimitOutOfRangeIsStatus400(_ asked: String) throws {
    #expect(try Caller.uploader().get("\(Self.history)/\(asked)").status == 400)
  }

  @Test func entriesOfAPhoneAppAreNotInTheHistoryUntilAPatch() throws {
    let caller = try Caller.uploader()
    let id = try #require(caller.site.actAsPhoneApp().addEntry(["type": "sgv", "date": 1_779_000_000_000]))
    #expect(try caller.get("\(Self.history)/946684800000").list.isEmpty)
    let found = try caller.get("\(Self.entries)?date$gte=1779000000000").list
    #expect(found.map { $0["identifier"]?.text } == [id])
    // API v1 stores no time of change, so the server computes it from the time of the event.
    #expect(found.map { $0["srvModified"]?.whole } == [1_779_000_000_000])
    #expect(try caller.patch("\(Self.entries)/\(id)", ["sgv": 90]).status == 200)
    #expect(try caller.get("\(Self.history)/946684800000").identifiers == [id])
  }

  @Test func aCursorOfOnlyTheTimeMissesChangesWithEqualTimesAtAPageEnd() throws {
    let caller = try Caller.uploader()
    for group in 0..<4 {
      caller.site.moveClock(by: 1)
      for index in 0..<3 { _ = try caller.post(Self.entries, Draft.entry("\(group)-\(index)")) }
    }
    var cursor: Int64 = 946_684_800_000
    var seen: [String] = []
    while let page = Optional(try caller.get("\(Self.history)/\(cursor)?limit=5")), !page.list.isEmpty {
      seen += page.identifiers
      cursor = page.list.last?["srvModified"]?.whole ?? 0
    }
    #expect(Set(seen).count == seen.count)
    #expect(seen.count < 12)
    // A search for the exact time of change finds all documents of this millisecond.
    let tie = try caller.get("\(Self.entries)?srvModified=\(Caller.start + 2)&sort=identifier&limit=2&skip=1")
    #expect(tie.identifiers == ["1-1", "1-2"])
  }

  @Test func aDelayedWriteBecomesVisibleAfterALaterOne() throws {
    let caller = try Caller.uploader {
      $0.visibilityDelayMilliseconds = 3000
      $0.lateSubject = "slow"
    }
    let slow = try Caller(caller.site, rights: ["*"], name: "slow")
    #expect(try slow.post(Self.entries, Draft.entry("late")).status == 201)
    caller.site.moveClock(by: 1)
    #expect(try caller.post(Self.entries, Draft.entry("early")).status == 201)
    let first = try caller.get("\(Self.history)/946684800000")
    #expect(first.identifiers == ["early"])
    #expect(caller.site.documents("entries").map { $0["identifier"] } == ["late", "early"])
    caller.site.moveClock(by: 3000)
    let cursor = try #require(first.list.last?["srvModified"]?.whole)
    #expect(try caller.get("\(Self.history)/\(cursor)").list.isEmpty)
    #expect(try caller.get("\(Self.history)/\(cursor - 3000)").identifiers == ["late", "early"])
  }

  @Test func aDelayedChangeShowsTheOldValueUntilItIsVisible() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.entries, Draft.entry("e", ["notes": "old"]))
    caller.site.change { $0.visibilityDelayMilliseconds = 500 }
    _ = try caller.patch("\(Self.entries)/e", ["notes": "new"])
    #expect(try caller.get("\(Self.entries)/e").result?["notes"] == "old")
    caller.site.moveClock(by: 500)
    #expect(try caller.get("\(Self.entries)/e").result?["notes"] == "new")
  }

  @Test func editsAndDeletionsByAPhoneAppAreNotInTheHistory() throws {
    let caller = try Caller.uploader()
    let phone = caller.site.actAsPhoneApp()
    _ = try caller.post("/api/v3/treatments", Draft.note("n"))
    _ = try caller.post(Self.entries, Draft.entry("e"))
    caller.site.moveClock(by: 60_000)
    #expect(phone.editTreatment("n", ["notes": "by phone"]))
    #expect(phone.editEntry("e", ["mbg": 99]))
    let note = try caller.get("/api/v3/treatments/n").result
    #expect(note?["notes"] == "by phone")
    #expect(note?["utcOffset"] == 0)
    #expect(note?["srvModified"]?.whole == Caller.start)
    #expect(try caller.get("/api/v3/treatments/history/\(Caller.start)").list.isEmpty)
    // The app's edit has changed the document's UTC offset. A PUT must repeat the stored offset, so this PUT
    // is refused.
    #expect(try caller.put("/api/v3/treatments/n", Draft.note("n")).status == 400)
    #expect(phone.deleteTreatment("n"))
    #expect(phone.deleteEntry("e"))
    #expect(try caller.get("/api/v3/treatments/n").status == 404)
    #expect(try caller.get("\(Self.history)/946684800000").list.isEmpty)
    #expect(!phone.deleteEntry("e"))
  }

  @Test func pruningRemovesOldDocumentsAtOnceOrWithinAnHour() throws {
    let caller = try Caller.uploader { $0.autopruneDays = ["entries": 30] }
    let old = Caller.start - 40 * 86_400_000
    #expect(try caller.post(Self.entries, Draft.entry("old 1", at: old)).status == 201)
    #expect(caller.site.documents("entries").isEmpty)
    #expect(try caller.post(Self.entries, Draft.entry("old 2", at: old)).status == 201)
    #expect(caller.site.documents("entries").count == 1)
    caller.site.moveClock(by: 3_600_000)
    _ = try caller.post(Self.entries, Draft.entry("young"))
    #expect(caller.site.documents("entries").map { $0["identifier"] } == ["young"])
    #expect(try caller.get("\(Self.entries)/old%202").status == 404)
  }

  @Test func aDocumentWithAFutureDateKeepsTheLastChangeTimeInTheFuture() throws {
    let caller = try Caller.uploader()
    let future = Caller.start + 86_400_000
    _ = try caller.post(Self.entries, Draft.entry("future", at: future))
    caller.site.moveClock(by: 1000)
    _ = try caller.post(Self.entries, Draft.entry("e"))
    let collections = try caller.get("/api/v3/lastModified").result?["collections"]
    #expect(collections?["entries"]?.whole == future)
    #expect(collections?["food"] == nil)
  }

  @Test func aHistoryRequestForSelectedFieldsMissesADeletion() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.entries, Draft.entry("e", at: Caller.start - 60_000))
    let history = try caller.get("\(Self.history)/946684800000?fields=identifier,date")
    #expect(history.headers["etag"] == "W/\"\(Caller.start - 60_000)\"")
    _ = try caller.delete("\(Self.entries)/e")
    #expect(try caller.get("\(Self.entries)/e?fields=identifier").status == 200)
    #expect(try caller.get("\(Self.entries)/e").status == 410)
  }

  @Test func aSearchAppliesFiltersAndOmitsDeletedDocuments() throws {
    let caller = try Caller.uploader()
    for index in 0..<5 {
      let more: NightscoutDocument = ["mbg": DocumentValue(Int64(100 + index)), "notes": "7", "ok": true]
      _ = try caller.post(Self.entries, Draft.entry("e\(index)", at: Caller.start + Int64(index), more))
    }
    _ = try caller.delete("\(Self.entries)/e0")
    func found(_ query: String) throws -> [String] { try caller.get("\(Self.entries)?\(query)").identifiers }
    #expect(try found("sort=date") == ["e1", "e2", "e3", "e4"])
    #expect(try found("sort$desc=date&limit=2&skip=1") == ["e3", "e2"])
    // If a search has two conditions on one field, only the last one is used.
    let (first, last) = (Caller.start + 2, Caller.start + 4)
    #expect(try found("date$gte=\(first)&date$lt=\(last)&sort=date") == ["e1", "e2", "e3"])
    #expect(try found("date$lt=\(last)&date$gte=\(first)&sort=date") == ["e2", "e3", "e4"])
    #expect(try found("mbg=103") == ["e3"])
    #expect(try found("mbg%24gt=102&sort=date") == ["e3", "e4"])
    #expect(try found("identifier$in=e1|e4") == ["e1", "e4"])
    #expect(try found("identifier$nin=e1|e4") == ["e2", "e3"])
    #expect(try found("identifier$re=^e[12]") == ["e1", "e2"])
    #expect(try found("ok=true&identifier$ne=e1") == ["e2", "e3", "e4"])
    // An unquoted `7` is compared as a number, but the values of a list are compared as texts.
    #expect(try found("notes=7") == [])
    #expect(try found("notes='7'").count == 4)
    #expect(try found("mbg$in=101|102") == [])
    #expect(try caller.get("\(Self.entries)?limit=0").status == 400)
    #expect(try caller.get("\(Self.entries)?limit=1001").status == 400)
    #expect(try caller.get("\(Self.entries)?skip=-1").status == 400)
    #expect(try caller.get("\(Self.entries)?sort=a&sort$desc=b").status == 400)
    #expect(try caller.get("\(Self.entries)?mbg$like=1").status == 400)
  }

  @Test func treatmentsFromAPIv1HaveNoDateForFilters() throws {
    let caller = try Caller.uploader()
    caller.site.actAsPhoneApp().addTreatment(["eventType": "Note", "created_at": "2026-05-01T10:00:00Z"])
    #expect(try caller.get("/api/v3/treatments?date$gte=0").list.isEmpty)
    #expect(try caller.get("/api/v3/treatments?created_at$gte=2026-05-01").list.count == 1)
  }
}
