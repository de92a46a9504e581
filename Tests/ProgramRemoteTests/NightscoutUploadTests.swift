// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestProgram
import TestServers
import Testing

/// Tests `glucoport upload` of several stores to a Nightscout site to which other programs write as well.
@Suite(.timeLimit(.minutes(10))) struct NightscoutUploadTests {
  private let program: Program
  private let site: NightscoutStandIn
  private let token: String

  init() throws {
    program = try Program()
    site = try NightscoutStandIn()
    token = site.addSubject(
      "anna", rights: ["api:entries:create,read,update", "api:treatments:create,read,update,delete"])
  }

  /// The treatments of doses, meals and notes. The treatment that stores the zone of the logbook has a time
  /// in January 2000, so it is left out.
  private var treatments: [NightscoutDocument] {
    site.documents("treatments").filter { $0["created_at"]?.text?.hasPrefix("2000-01-02") != true }
  }

  /// Runs a command with one of several stores.
  private func of(_ store: String, _ arguments: String...) async throws -> Program.Outcome {
    try await program.run(arguments: arguments + ["--store", program.path("\(store).db")])
  }

  private func connect(_ store: String, token: String? = nil) async throws -> Program.Outcome {
    let path = try program.write((token ?? self.token) + "\n", to: "\(store).token")
    #expect(chmod(path, 0o600) == 0)
    return try await of(store, "remote", "set", site.url, "--type", "nightscout", "--token-file", path)
  }

  private func upload(_ store: String) async throws -> String {
    let outcome = try await of(store, "upload", "--now")
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  @Test func verifyComparesAStoreWithASite() async throws {
    let csv = try program.write(GeneratedExport.csv(rows: 50), to: "all.csv")
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "import", csv, "--quiet").status == 0)
    #expect(
      try await of("a", "record", "add", "food", "45", "--at", "2026-03-01T08:00", "--quiet").status == 0)
    let early = try await of("a", "verify")
    #expect(early.status == 75 && early.errors.contains("run 'glucoport upload' first"), "\(early)")
    #expect(try await upload("a").hasPrefix("pushed 50 readings, 1 record"))
    let equal = try await of("a", "verify")
    #expect(equal.status == 0 && equal.output == "no differences\n", "\(equal)")
    let phone = site.actAsPhoneApp()
    for document in site.documents("entries").prefix(2) {
      #expect(phone.deleteEntry(document["_id"]?.text ?? ""))
    }
    #expect(phone.editTreatment(treatments[0]["_id"]?.text ?? "", ["carbs": 50]))
    // The edited treatment is older than the two days whose changes an upload reads.
    #expect(try await upload("a").contains("pulled 0 readings, 0 records"))
    let found = try await of("a", "verify")
    let lines = found.output.split(separator: "\n")
    #expect(found.status == 3 && lines.count == 4, "\(found)")
    #expect(lines.prefix(2).allSatisfy { $0.hasPrefix("missing on the remote: 2024-01-01 ") }, "\(found)")
    #expect(lines[2].hasPrefix("different on the remote: 2026-03-01 08:00:00  food  "), "\(found)")
    let fixed = try await of("a", "verify", "--fix")
    #expect(fixed.status == 0, "\(fixed)")
    #expect(try await upload("a").hasPrefix("pushed 2 readings, 0 records"))
    #expect(try await of("a", "verify", "--quiet").status == 0)
    #expect(try await of("a", "list", "--kind", "food").output.contains("50 g"))
  }

  @Test func twoStoresAndAPhoneAppOnASiteBecomeEqual() async throws {
    let csv = try program.write(GeneratedExport.csv(rows: 700), to: "all.csv")
    let set = try await connect("a")
    #expect(set.status == 0 && set.output.contains("Nightscout site"), "\(set)")
    #expect(try await of("a", "import", csv, "--quiet").status == 0)
    #expect(try await of("a", "record", "add", "insulin", "4.5", "--subtype", "rapid", "--quiet").status == 0)
    #expect(try await connect("b").status == 0)
    #expect(try await upload("a").hasPrefix("pushed 700 readings, 1 record · pulled 0 readings, 0 records"))
    #expect(try await upload("b").contains("pulled 700 readings, 1 record"))
    let phone = site.actAsPhoneApp()
    let now = site.now / 1000 * 1000
    phone.addEntry([
      "type": "sgv", "sgv": 123, "date": .number(Double(now - 300_000)), "device": "phone",
      "dateString": .string(DateFormatting.text(now - 300_000)),
    ])
    phone.addTreatment([
      "eventType": "Carb Correction", "carbs": 30, "created_at": .string(DateFormatting.text(now - 300_000)),
    ])
    for store in ["a", "b"] {
      #expect(try await upload(store).contains("pulled 1 reading, 1 record"))
      #expect(try await upload(store).contains("pushed 0 readings, 0 records · pulled 0 readings, 0 records"))
    }
    let exports = try await (of("a", "export"), of("b", "export"))
    let lines = [exports.0, exports.1].map { $0.output.split(separator: "\r\n").sorted() }
    #expect(lines[0].count == 705 && lines[0] == lines[1], "a header, 701 readings, 2 records and the zone")
    #expect(site.documents("entries").count == 701 && treatments.count == 2)
  }

  @Test func aSiteUploadWithoutNewDataNeedsFourRequests() async throws {
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    _ = try await upload("a")
    let before = site.requests.count
    _ = try await upload("a")
    #expect(site.requests.count - before <= 4)
  }

  @Test(arguments: [
    (NightscoutFault.status(401), Int32(77)), (.status(403), 77), (.status(404), 76), (.status(500), 75),
    (.page(200), 76), (.reset, 69), (.redirect("https://other.example"), 76),
    (.status(503, retryAfterSeconds: 7), 75),
  ])
  func anUnavailableSiteEndsTheUploadWithTheReason(_ fault: NightscoutFault, _ status: Int32) async throws {
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    site.plan(fault, times: 20)
    let outcome = try await of("a", "upload", "--now")
    #expect(outcome.status == status, "\(outcome)")
    #expect(outcome.errors.contains("127.0.0.1:\(site.port)"), "\(outcome)")
    #expect(!(outcome.output + outcome.errors).contains(token))
    site.forgetFaults()
    #expect(try await upload("a").contains("pushed 0 readings, 1 record"))
  }

  /// Each kind of write is redirected to a web page, as if a login page appeared during the upload.
  @Test(arguments: ["POST /api/v1", "PUT /api/v3/entries", "POST /api/v3/treatments", "PATCH", "DELETE"])
  func itemsAnsweredByAWebPageInsteadOfTheSiteStayPending(_ write: String) async throws {
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    _ = try await upload("a")
    let note = treatments.first { $0["eventType"] == "Note" }
    let id = try #require(note?["identifier"]?.text)
    let isBulk = write.contains("v1")
    switch write {
    case "PATCH": #expect(try await of("a", "record", "edit", id, "y", "--quiet").status == 0)
    case "DELETE": #expect(try await of("a", "record", "delete", id, "--quiet").status == 0)
    case "POST /api/v3/treatments":
      #expect(try await of("a", "record", "add", "insulin", "4.5", "--quiet").status == 0)
    default:
      let csv = try program.write(GeneratedExport.csv(rows: isBulk ? 40 : 2), to: "all.csv")
      #expect(try await of("a", "import", csv, "--quiet").status == 0)
    }
    for fault in [NightscoutFault.page(200), .answer(200, "{}"), .answer(200, "[]"), .page(404), .page(410)] {
      site.plan(fault, times: 100) { "\($0.method) \($0.path)".hasPrefix(write) }
      let outcome = try await of("a", "upload", "--now")
      #expect(outcome.status == 76 && outcome.errors.contains("check the address"), "\(fault) \(outcome)")
      site.forgetFaults()
    }
    let counts =
      write.contains("entries") || isBulk ? "\(isBulk ? 40 : 2) readings, 0 records" : "0 readings, 1 record"
    #expect(try await upload("a").contains("pushed \(counts) ·"))
    #expect(try await upload("a").contains("pushed 0 readings, 0 records"))
  }

  @Test(arguments: [400, 422])
  func aQueryRefusedByTheSiteMarksNoItemAsRefused(_ status: Int) async throws {
    let csv = try program.write(GeneratedExport.csv(rows: 40), to: "all.csv")
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "import", csv, "--quiet").status == 0)
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    for path in ["/api/v3/entries", "/api/v3/treatments"] {
      site.plan(.status(status), times: 100) { $0.method == "GET" && $0.path.hasPrefix(path) }
      let outcome = try await of("a", "upload", "--now")
      #expect(outcome.status == 76 && outcome.errors.contains("said by the test"), "\(outcome)")
      site.forgetFaults()
    }
    _ = try await upload("a")
    #expect(site.documents("entries").count == 40 && treatments.count == 1)
    #expect(try await of("a", "status", "--check").status == 0)
  }

  // MARK: Formats of the site

  /// Writes the valid treatments of the site to a file, as an export of the site, and returns its path.
  private func export(_ name: String) throws -> String {
    let valid = treatments.filter { $0["isValid"] != false }
    return try program.write(DocumentValue.array(valid.map(DocumentValue.object)).json, to: name)
  }

  /// The lines of a store's records in its ndjson export, sorted.
  private func records(_ store: String) async throws -> [String] {
    let outcome = try await of(store, "export", "--format", "ndjson")
    #expect(outcome.status == 0, "\(outcome)")
    return outcome.output.split(separator: "\n").map(String.init).filter { !$0.contains("\"kind\":\"zone\"") }
      .sorted()
  }

  @Test func importingAnExportOfTheSiteDuplicatesNoUploadedRecord() async throws {
    #expect(try await connect("a").status == 0)
    for words in [
      ["insulin", "4.5", "--subtype", "rapid"], ["insulin", "12", "--subtype", "long"], ["food", "40g"],
      ["note", "5 < 6 & x"],
    ] {
      let outcome = try await program.run(
        arguments: ["record", "add"] + words + ["--quiet", "--store", program.path("a.db")])
      #expect(outcome.status == 0, "\(outcome)")
    }
    _ = try await upload("a")
    let file = try export("site.json")
    let before = try await records("a")
    #expect(before.count == 4)
    // The store that made the treatments recognises its records in the export, even after it has edited or
    // deleted one of them.
    let imported = try await of("a", "import", file)
    #expect(imported.status == 0 && imported.output.contains("records: new 0 · known 4"), "\(imported)")
    #expect(try await records("a") == before)
    let ids = treatments.compactMap { $0["identifier"]?.text }
    #expect(try await of("a", "record", "edit", ids[0], "--note", "edited", "--quiet").status == 0)
    #expect(try await of("a", "record", "delete", ids[1], "--quiet").status == 0)
    let edited = try await records("a")
    #expect(try await of("a", "import", file).status == 0)
    #expect(try await records("a") == edited && edited != before)
    // Another store imports the treatments once. It then has the same records as the site.
    #expect(try await of("b", "import", file, "--quiet").status == 0)
    #expect(try await of("b", "import", file).output.contains("records: new 0 · known 4"))
    #expect(try await records("b").count == 4)
    #expect(try await connect("b").status == 0)
    _ = try await upload("b")
    #expect(treatments.count == 4)
    _ = try await upload("a")
    _ = try await upload("b")
    #expect(try await records("b") == records("a"))
    #expect(treatments.count == 4)
  }

  @Test func importingAnExportOfTheSiteStoresTheSameAsAPull() async throws {
    #expect(try await connect("a").status == 0)
    let bolus = ["insulin", "4.5", "--subtype", "rapid", "--note", "5 < 6", "--at", "90m"]
    let added = try await program.run(
      arguments: ["record", "add"] + bolus + ["--store", program.path("a.db"), "--quiet"])
    #expect(added.status == 0)
    #expect(try await of("a", "record", "add", "food", "40g", "--at", "3h", "--quiet").status == 0)
    #expect(try await of("a", "record", "add", "note", "stays", "--quiet").status == 0)
    _ = try await upload("a")
    let phone = site.actAsPhoneApp()
    let id = { (member: String) in
      try #require(treatments.first { $0[member] != nil }?["identifier"]?.text)
    }
    #expect(phone.editTreatment(try id("insulin"), ["insulin": 7, "notes": "1 > 0"]))
    #expect(try await of("a", "record", "edit", id("carbs"), "--at", "2h", "--quiet").status == 0)
    _ = try await upload("a")
    let file = try export("site.json")
    #expect(try await of("b", "import", file, "--quiet").status == 0)
    #expect(try await connect("c").status == 0)
    _ = try await upload("c")
    #expect(try await records("b") == records("c"))
    #expect(try await records("b").contains { $0.contains("1 > 0") })
    #expect(try await connect("b").status == 0)
    _ = try await upload("b")
    #expect(try await records("b") == records("c"))
    #expect(treatments.filter { $0["isValid"] != false }.count == 3)
  }

  @Test func theSiteTokenIsSentOnlyInTheLoginRequest() async throws {
    let other = try ScriptedServer { _ in .status(200) }
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    site.plan(.redirect(other.url), times: 20)
    #expect(try await of("a", "upload", "--now").status == 76)
    site.forgetFaults()
    site.plan(.redirect(other.url), times: 20) { $0.path.hasPrefix("/api/v3") }
    #expect(try await of("a", "upload", "--now").status == 76)
    #expect(other.requests.isEmpty)
    for request in site.requests where !request.path.hasPrefix("/api/v2/authorization/request/") {
      let text = "\(request.path) \(request.headers) \(String(decoding: request.body, as: UTF8.self))"
      #expect(!text.contains(token))
    }
  }

  /// Name and date of birth are settings of this computer. No option sends them to a remote.
  @Test func nameAndDateOfBirthAreNotSentToASite() async throws {
    #expect(try await connect("a").status == 0)
    #expect(try await of("a", "add", "6.1mmol", "45g", "soup", "--at", "2026-05-06T08:00").status == 0)
    for (name, value) in [("name", "Zoë Sommerfeldt"), ("born", "1971-03-09")] {
      #expect(try await of("a", "config", name, value).status == 0)
    }
    #expect(try await upload("a").hasPrefix("pushed 1 reading, 1 record"))
    #expect(try await of("a", "verify").status == 0)
    #expect(site.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("soup") })
    for request in site.requests {
      let text = "\(request.path) \(request.headers) \(String(decoding: request.body, as: UTF8.self))"
      #expect(!text.contains("Sommerfeldt") && !text.contains("1971-03-09"), "\(request.path)")
    }
  }

  /// The program uploads a typed finger stick as an entry, like one from a meter. It sends no treatment,
  /// since other programs would show both the entry and the treatment.
  @Test func aTypedFingerStickAlsoEnteredOnTheSiteCountsOnce() async throws {
    #expect(try await connect("a").status == 0)
    let typed = try await of(
      "a", "add", "6.1mmol", "--mark", "fasting", "--at", "2026-05-06T08:00:20+00:00")
    #expect(typed.status == 0, "\(typed)")
    #expect(try await upload("a").hasPrefix("pushed 1 reading"))
    let entry = try #require(site.documents("entries").first)
    #expect(entry["type"]?.text == "mbg" && entry["mbg"]?.number == 110 && entry["device"]?.text == "typed")
    #expect(treatments.isEmpty)
    // A person enters the same finger stick on the web page of the site. The page stores the time without
    // seconds.
    site.actAsPhoneApp().addTreatment([
      "eventType": "BG Check", "glucose": 110, "glucoseType": "Finger", "units": "mg/dl",
      "created_at": "2026-05-06T08:00:00.000Z", "enteredBy": "web",
    ])
    #expect(try await connect("b").status == 0)
    _ = try await upload("b")
    let listed = try await of("b", "list", "--kind", "smbg").output
    #expect(listed.split(separator: "\n").count == 2, "\(listed)")
    #expect(listed.contains("6.1 mmol/L  manual fasting"), "\(listed)")
    let leftOut = try await of("b", "list", "--left-out").output
    #expect(leftOut.split(separator: "\n").count == 1, "\(leftOut)")
    #expect(site.documents("entries").count == 1 && treatments.count == 1)
  }

  @Test func invalidSiteTokensAndRemoteTypesAreRefused() async throws {
    let secret = try await connect("a", token: "a-secret-of-the-site")
    #expect(
      secret.status == 77 && secret.errors.contains("access token") && site.requests.isEmpty, "\(secret)")
    let unknown = try await connect("a", token: "anna-0123456789abcdef")
    #expect(unknown.status == 77, "\(unknown)")
    let type = try await of("a", "remote", "set", site.url, "--type", "nightscot", "--token-file", "x")
    #expect(type.status == 64 && type.errors.contains("nightscout"), "\(type)")
  }

  @Test func withAReadOnlySiteTokenAnUploadOnlyFetches() async throws {
    let reader = site.addSubject("reader", roles: ["readable"])
    let set = try await connect("a", token: reader)
    #expect(set.status == 0 && set.output.contains("read only"), "\(set)")
    #expect(try await of("a", "record", "add", "note", "x", "--quiet").status == 0)
    site.actAsPhoneApp().addTreatment([
      "eventType": "Note", "notes": "from there", "created_at": .string(DateFormatting.text(site.now)),
    ])
    let outcome = try await of("a", "upload")
    #expect(outcome.status == 77 && outcome.errors.contains("pulled 0 readings, 1 record"), "\(outcome)")
    #expect(treatments.count == 1)
  }
}

/// Formats instants as ISO 8601.
private enum DateFormatting {
  static func text(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000).ISO8601Format(
      .init(includingFractionalSeconds: true))
  }
}
