// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestServers
import Testing

/// Tests the data that a running site keeps in memory, and the requests that end its process.
@Suite(.timeLimit(.minutes(5)))
struct NightscoutMemoryTests {
  private static let treatments = "/api/v3/treatments"
  private static let minute: Int64 = 60_000

  private func bolus(_ identifier: String, minutesAgo: Int64, _ more: NightscoutDocument = [:])
    -> DocumentValue
  {
    let fields: NightscoutDocument = ["eventType": "Correction Bolus", "insulin": 2]
    return Draft.note(identifier, at: Caller.start - minutesAgo * Self.minute, fields.merging(more) { $1 })
  }

  /// A site with at least 20 treatments in memory. It reloads only the treatments of the last minutes.
  private func busySite() throws -> Caller {
    let caller = try Caller.uploader()
    let phone = caller.site.actAsPhoneApp()
    for index in 1...20 {
      let time = NightscoutTime.iso(Caller.start - Int64(index) * 60 * Self.minute)
      phone.addTreatment(["eventType": "Note", "created_at": .string(time), "notes": "n"])
    }
    caller.site.settle()
    return caller
  }

  @Test func aBolusUploadedLateCountsAsActiveInsulinAfterARestart() throws {
    let caller = try busySite()
    _ = try caller.post(Self.treatments, bolus("late", minutesAgo: 40))
    #expect(caller.site.insulinOnBoard == 0)
    caller.site.restart()
    #expect(caller.site.insulinOnBoard > 1)
  }

  @Test func aBolusUploadedLateCountsAtOnceIfItHasItsTimestamp() throws {
    let caller = try busySite()
    let mills = DocumentValue(Caller.start - 40 * Self.minute)
    _ = try caller.post(Self.treatments, bolus("late", minutesAgo: 40, ["mills": mills]))
    #expect(caller.site.insulinOnBoard > 1)
  }

  @Test func aBolusOfTheLastMinutesCountsAsActiveInsulin() throws {
    let caller = try busySite()
    _ = try caller.post(Self.treatments, bolus("now", minutesAgo: 2))
    #expect(caller.site.insulinOnBoard > 1)
  }

  /// A dose of three units 40 minutes ago, as the web page adds it.
  private func dose(of caller: Caller) throws -> String {
    let time = NightscoutTime.iso(Caller.start - 40 * Self.minute)
    let id = caller.site.actAsPhoneApp().addTreatment([
      "eventType": "Correction Bolus", "insulin": 3, "created_at": .string(time), "notes": "before",
    ])
    caller.site.settle()
    return try #require(id)
  }

  @Test func aPatchWithoutTheTimestampRemovesADoseFromActiveInsulin() throws {
    let caller = try busySite()
    _ = try caller.post(
      Self.treatments,
      bolus("keyed", minutesAgo: 45, ["mills": DocumentValue(Caller.start - 45 * Self.minute)]))
    let keyed = caller.site.insulinOnBoard
    let id = try dose(of: caller)
    let both = caller.site.insulinOnBoard
    #expect(keyed > 1 && both > keyed + 1)
    #expect(try caller.patch("\(Self.treatments)/\(id)", ["notes": "after"]).status == 200)
    #expect(caller.site.insulinOnBoard == keyed)
    // The database still contains the dose. After a restart the memory contains it, too.
    #expect(try caller.get("\(Self.treatments)/\(id)").json?["result"]?["insulin"] == 3)
    caller.site.restart()
    #expect(caller.site.insulinOnBoard == both)
  }

  /// The running site reloads documents that are younger than 15 minutes from the database.
  @Test func aPatchedDoseOfTheLastMinutesStillCountsAsActiveInsulin() throws {
    let caller = try busySite()
    let time = NightscoutTime.iso(Caller.start - 5 * Self.minute)
    let added = caller.site.actAsPhoneApp().addTreatment([
      "eventType": "Correction Bolus", "insulin": 3, "created_at": .string(time),
    ])
    let id = try #require(added)
    let before = caller.site.insulinOnBoard
    _ = try caller.patch("\(Self.treatments)/\(id)", ["notes": "after"])
    #expect(before > 1 && caller.site.insulinOnBoard == before)
  }

  @Test func aDoseWithAnIdentifierPatchedWithItsTimestampCountsOnce() throws {
    let caller = try busySite()
    let mills = DocumentValue(Caller.start - 40 * Self.minute)
    _ = try caller.post(Self.treatments, bolus("keyed", minutesAgo: 40, ["mills": mills]))
    let before = caller.site.insulinOnBoard
    for notes in ["one", "two"] {
      _ = try caller.patch("\(Self.treatments)/keyed", ["notes": .string(notes), "mills": mills])
    }
    #expect(before > 1 && caller.site.insulinOnBoard == before)
  }

  /// The running site never treats two database keys as equal, and the document has no identifier. So its
  /// memory keeps the document twice.
  @Test func aDoseFromAPIv1ThatIsPatchedTwiceCountsTwice() throws {
    let caller = try busySite()
    let id = try dose(of: caller)
    let before = caller.site.insulinOnBoard
    let mills = DocumentValue(Caller.start - 40 * Self.minute)
    _ = try caller.patch("\(Self.treatments)/\(id)", ["notes": "one", "mills": mills])
    #expect(caller.site.insulinOnBoard == before)
    _ = try caller.patch("\(Self.treatments)/\(id)", ["notes": "two", "mills": mills])
    #expect(abs(caller.site.insulinOnBoard - 2 * before) < 0.01)
    caller.site.restart()
    #expect(caller.site.insulinOnBoard == before)
  }

  @Test func aDoseReplacedByAPutWithItsKeyCountsOnce() throws {
    let caller = try busySite()
    let id = try dose(of: caller)
    let before = caller.site.insulinOnBoard
    for notes in ["one", "two"] {
      let list = try caller.get("/api/v1/treatments.json?find%5B_id%5D=\(id)").json?.array
      var document = try #require(list?.first?.object)
      document["notes"] = .string(notes)
      #expect(try caller.put("/api/v1/treatments", .object(document)).status == 200)
    }
    #expect(caller.site.insulinOnBoard == before)
    #expect(caller.site.documents("treatments").count { $0["insulin"] == 3 } == 1)
  }

  @Test(arguments: [("", true), ("?permanent=true", false)])
  func onlyAPermanentDeletionRemovesADoseFromActiveInsulin(_ query: String, _ acts: Bool) throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, bolus("b", minutesAgo: 5))
    let before = caller.site.insulinOnBoard
    #expect(before > 1)
    _ = try caller.delete("\(Self.treatments)/b\(query)")
    #expect(caller.site.insulinOnBoard == (acts ? before : 0))
  }

  @Test func activeCarbsAreComputedOnlyWithAProfile() throws {
    let caller = try Caller.uploader()
    _ = try caller.post(Self.treatments, bolus("b", minutesAgo: 5, ["carbs": 30]))
    #expect(caller.site.carbsOnBoard == nil)
    let profile: DocumentValue = [
      "defaultProfile": "Day", "startDate": "2020-01-01T00:00:00.000Z",
      "store": ["Day": ["dia": 4, "sens": 50, "carbratio": 10, "carbs_hr": 30]],
    ]
    let secret = Caller(secretOf: caller.site)
    #expect(try secret.post("/api/v1/profile.json", profile).status == 200)
    #expect(caller.site.carbsOnBoard == 30)
  }

  @Test func aTokenOfARemovedSubjectCrashesTheServerInAPIv1() throws {
    let caller = try Caller.uploader()
    caller.site.removeSubject("uploader")
    #expect(try caller.get("/api/v3/entries").status == 403)
    #expect(throws: RawConnection.NoAnswer.self) { try caller.get("/api/v1/entries.json") }
    #expect(caller.site.isDown)
    #expect(throws: RawConnection.NoAnswer.self) { try caller.get("/api/v3/version") }
    caller.site.restart()
    #expect(try caller.get("/api/v3/version").status == 200)
  }

  @Test(arguments: [
    ("api:entries:create, read, update", [201, 403]), ("api:entries:create,read,update", [201, 403]),
    ("api:entries:create api:entries:read", [201, 200]), ("api:entries:create;api:entries:read", [201, 200]),
  ])
  func aTypedRoleIsSplitAtSpacesAndCommas(_ text: String, _ statuses: [Int]) throws {
    let site = try Caller.site()
    site.setRole("typed", typed: text)
    let token = site.addSubject("typist", roles: ["typed"])
    let session = try Caller(site, headers: []).get("/api/v2/authorization/request/\(token)").json?["token"]
    let caller = Caller(site, headers: ["Authorization: Bearer \(session?.text ?? "")"])
    let created = try caller.post("/api/v3/entries", Draft.entry("e")).status
    #expect([created, try caller.get("/api/v3/entries").status] == statuses)
  }

  /// A body of this length has dynamic Huffman codes, which short bodies do not have.
  @Test func aBodyCompressedWithDynamicHuffmanCodesIsAccepted() throws {
    let caller = try Caller.uploader()
    let packed =
      "H4sIAAAAAAACAz2MbWrDMBBErzLodwPW6mvVS/QMrr0OJtQ1iRoIIXfvyIUKIXaf3szTrbNtbV1Wu7p3uH2cLja7N7hx3w9g26mP"
      + "JLPd18k6/LJm19PYYXvsf+jzfDhj66svOvwf4p82fSzLzRr/+t5tWoPnvH03u/WKAR4RFT5DEkJGrMgR6hEgEbGgCATBIwsqjYDC"
      + "jCAFVNrMsoBzRBqgyAlSoIoUIQJlG6sSvIdmZCYUQeBpogZoQqkofMNxj5WQX7lLVBlgTLN7/QJaCPvlOAEAAA=="
    let body = try #require(Data(base64Encoded: packed))
    let headers = ["Content-Type: application/json", "Content-Encoding: gzip"]
    #expect(try caller.call("POST", "/api/v3/entries", headers, Array(body)).status == 201)
    let notes = (0..<60).map { String($0 * $0 % 97) }.joined(separator: " ")
    #expect(caller.site.documents("entries").first?["notes"] == .string(notes))
  }

  /// A search with a lower or upper bound uses sorted rows. It must find the same documents as a search of
  /// every document.
  @Test(arguments: ["date", "srvModified", "created_at"])
  func anIndexedSearchFindsTheSameDocumentsAsAFullSearch(_ field: String) throws {
    let caller = try Caller.uploader()
    for index in 0..<40 {
      caller.site.moveClock(by: index % 3 == 0 ? 0 : 700)
      let date = Caller.start - Int64(index * 7 % 11) * Self.minute
      _ = try caller.post("/api/v3/entries", Draft.entry("e\(index % 29)x\(index * 7 % 11)", at: date))
      if index % 9 == 4 {
        _ = try caller.delete("/api/v3/entries/e\(index % 29)x\(index * 7 % 11)?permanent=true")
      }
    }
    let documents = caller.site.documents("entries")
    let bound = try #require(documents[documents.count / 2][field])
    let text = bound.text ?? bound.json
    for (name, isPassed) in Self.comparisons {
      let wanted = documents.filter { isPassed(Self.number($0[field]), Self.number(bound)) }
      let found = try caller.get("/api/v3/entries?\(field)$\(name)=\(text)&sort=\(field)").list
      #expect(Set(found.map { $0["identifier"]?.text }) == Set(wanted.map { $0["identifier"]?.text }))
      #expect(found.map { Self.number($0[field]) } == wanted.map { Self.number($0[field]) }.sorted())
      let down = try caller.get("/api/v3/entries?\(field)$\(name)=\(text)&sort$desc=\(field)&limit=3&skip=2")
        .list
      #expect(down == Array(found.reversed().dropFirst(2).prefix(3)))
    }
  }

  private static let comparisons: [(String, @Sendable (Int64, Int64) -> Bool)] = [
    ("gte", { $0 >= $1 }), ("gt", { $0 > $1 }), ("lte", { $0 <= $1 }), ("lt", { $0 < $1 }),
  ]

  private static func number(_ value: DocumentValue?) -> Int64 {
    value?.whole ?? value?.text.flatMap { NightscoutTime.parse($0)?.milliseconds } ?? 0
  }
}
