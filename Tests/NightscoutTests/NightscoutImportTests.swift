// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Logbook
import SeededRandom
import Testing

@testable import Nightscout

/// Tests that an import of a site's export yields the same items as a pull of the site, with the same
/// identities.
@Suite struct NightscoutImportTests {
  private static let zone = "Europe/Madrid"
  private static let writer = NightscoutWriter(node: "n", run: "r")

  /// The readings and records that were read from documents, each described in one line.
  private struct Taken: Equatable {
    var readings: [String] = []
    var records: [String] = []
    var refusals = 0

    mutating func add(_ reading: Reading, _ device: Device) {
      let identity = ReadingIdentity(reading, device)
      readings.append(
        "\(identity.text) \(reading.deviceTime.text) \(reading.placement) \(reading.measurement) \(reading.marks.names)"
      )
    }

    mutating func add(_ guid: String, _ state: RecordState) {
      let provenance = state.provenance?.json ?? ""
      records.append("\(guid) \(state.contentJSON) \(state.placement.source) \(provenance)")
    }
  }

  private func pulled(_ documents: [(NightscoutCollection, JSONValue)]) throws -> Taken {
    let zone = NightscoutZone(zone: try LogbookZone(name: Self.zone))
    var taken = Taken()
    for (collection, value) in documents {
      let contents = try #require(NightscoutDocument(value)).contents(of: collection, zone)
      if let (reading, device) = contents.reading { taken.add(reading, device) }
      for record in contents.records { taken.add(record.guid, record.state) }
      taken.refusals += contents.rejections.count
    }
    return taken
  }

  private func imported(_ documents: [(NightscoutCollection, JSONValue)]) throws -> Taken {
    let file = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try Data(JSONValue.list(documents.map(\.1)).bytes).write(to: file)
    defer { unlink(file.path) }
    var options = try ExportOptions(zone: LogbookZone(name: Self.zone), now: 1_990_000_000)
    options.format = "nightscout"
    var reader = try InputReader(path: file.path, options: options)
    var (batch, taken, isOpen) = (IngestBatch(), Taken(), true)
    while isOpen { isOpen = try reader.read(into: &batch) }
    for reading in batch.readings { taken.add(reading, batch.devices[Int(reading.device.number)]) }
    for record in batch.records {
      let state = RecordState(
        kind: record.kind, entryGuid: record.entryGuid, deviceTime: record.deviceTime,
        placement: record.placement, fields: record.fields, isDeleted: record.deleted,
        provenance: record.guid == nil
          ? Provenance(format: "nightscout", source: record.source) : record.provenance)
      taken.add(record.guid ?? Digest.uuid(of: ["record", "nightscout", record.sourceID]), state)
    }
    taken.refusals = batch.rejections.count
    return taken
  }

  @Test(arguments: UInt64(1)...20)
  func aNightscoutFileWithDocumentsOfGlucoportIsImportedLikeADownload(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    var documents: [(NightscoutCollection, JSONValue)] = []
    for _ in 0..<30 {
      let (reading, device) = random.reading()
      let entry = NightscoutEntry.members(reading, device, identifier: random.guid(), shift: 0, Self.writer)
      documents.append((.entries, .object(entry)))
      // An import rejects a record without the required fields of its kind.
      var state = random.state()
      while state.kind.details?.fault(in: state.fields) != nil { state = random.state() }
      let part = NightscoutPart(guid: random.guid(), state: state)
      let treatment = NightscoutTreatment.members(part, identifier: part.guid, shift: 0, Self.writer)
      documents.append((.treatments, .object(treatment)))
    }
    let pulled = try pulled(documents)
    #expect(pulled.readings.count == 30 && pulled.records.count == 30, "seed \(seed)")
    let imported = try imported(documents)
    #expect(Set(imported.readings).symmetricDifference(pulled.readings) == [], "seed \(seed)")
    #expect(Set(imported.records).symmetricDifference(pulled.records) == [], "seed \(seed)")
    #expect(imported == pulled, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...40)
  func aNightscoutFileWithDocumentsOfOtherProgramsIsImportedLikeADownload(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    // Values in mg/dL, as on a site.
    let first: [String: JSONValue] = [
      "identifier": .text("first"), "type": .text("sgv"), "sgv": .number(120), "date": .number(1.778e12),
    ]
    var documents: [(NightscoutCollection, JSONValue)] = [(.entries, .object(first))]
    for _ in 0..<40 {
      documents.append((.entries, .object(random.foreignEntry())))
      documents.append((.treatments, .object(random.foreignTreatment())))
    }
    let pulled = try pulled(documents)
    #expect(!pulled.readings.isEmpty && !pulled.records.isEmpty && pulled.refusals > 0, "seed \(seed)")
    let imported = try imported(documents)
    #expect(Set(imported.readings).symmetricDifference(pulled.readings) == [], "seed \(seed)")
    #expect(Set(imported.records).symmetricDifference(pulled.records) == [], "seed \(seed)")
    #expect(imported == pulled, "seed \(seed)")
  }

  /// The document that an export writes for a reading; nil if it omits the reading.
  private func exported(_ reading: Reading, _ device: Device, isWithdrawn: Bool = false) throws -> JSONValue?
  {
    let item = GlucoportReading(
      device: device, kind: reading.kind, deviceTime: reading.deviceTime, placement: reading.placement,
      measurement: reading.measurement, marks: reading.marks, isWithdrawn: isWithdrawn,
      positionKind: reading.positionKind, position: reading.position, valueBucket: reading.valueBucket,
      occurrence: Int64(reading.occurrence))
    guard NightscoutEntryWriter.omission(of: item) == nil else { return nil }
    var writer = NightscoutEntryWriter()
    var out = Array(writer.header.utf8)
    writer.append(item, to: &out)
    out.append(contentsOf: writer.footer.utf8)
    return try #require(JSONValue.read(out).items?.first)
  }

  @Test(arguments: UInt64(1)...20)
  func aNightscoutExportHasTheEntryThatAnUploadSends(_ seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    var count = 0
    for _ in 0..<50 {
      let (reading, device) = random.reading()
      let isLeftOut = reading.kind == .ketone || reading.marks.contains(.controlSolution)
      let document = try exported(reading, device)
      #expect((document == nil) == isLeftOut, "seed \(seed)")
      guard let document else { continue }
      count += 1
      let identifier = ReadingIdentity(reading, device).uuid
      var sent = NightscoutEntry.members(reading, device, identifier: identifier, shift: 0, Self.writer)
      var own = try #require(sent["glucoport"]?.members)
      (own["node"], own["run"]) = (nil, nil)
      sent["glucoport"] = .object(own)
      #expect(document == .object(sent), "seed \(seed)")
      let taken = [(NightscoutCollection.entries, document)]
      #expect(try imported(taken) == pulled(taken), "seed \(seed)")
    }
    #expect(count > 10)
  }

  @Test func aNightscoutExportOmitsItemsThatASiteRefusesAndEscapesHTML() throws {
    let device = Device(vendor: "A<b>", model: "<i>m", serial: "1 < 2", format: "x")
    let document = try #require(try exported(Sample.reading, device))
    #expect(!document.json.contains("<") && document["device"]?.text == "A‹b> ‹i>m 1 ‹ 2")
    #expect(try exported(Sample.reading, device, isWithdrawn: true) == nil)
    let early = Reading(
      device: DeviceIndex(0), kind: .smbg, at: DeviceTime(seconds: 900_000_000),
      placement: Placement(utcOffset: 0, source: .stated),
      .value(Quantity(100, .milligramsPerDecilitre)), line: 0)
    #expect(try exported(early, device) == nil)
  }

  @Test func aMeterEntryWithAnEventTypeIsReadAsAReading() throws {
    let members: [String: JSONValue] = [
      "identifier": .text("x"), "type": .text("mbg"), "mbg": .number(112), "date": .number(1.778e12),
      "eventType": .text("BG Check"), "units": .text("mg/dL"),
    ]
    let documents = [(NightscoutCollection.entries, JSONValue.object(members))]
    let pulled = try pulled(documents)
    #expect(pulled.readings.count == 1 && pulled.records.isEmpty && pulled.refusals == 0)
    #expect(try imported(documents) == pulled)
  }

  @Test(arguments: [("999999999999999999", 1), ("1000000000000000000", 0), ("-9223372036854775808", 0)])
  func aReadingPositionWithMoreThanEighteenDigitsIsRefused(_ position: String, _ count: Int) throws {
    var reading = Sample.reading
    (reading.positionKind, reading.position) = (.tick, try #require(Int64(position)))
    let entry = NightscoutEntry.members(
      reading, Sample.device, identifier: Sample.guid, shift: 0, Self.writer)
    let documents = [(NightscoutCollection.entries, JSONValue.object(entry))]
    let pulled = try pulled(documents)
    #expect(pulled.readings.count == count && pulled.refusals == 1 - count)
    #expect(try imported(documents) == pulled)
  }

  @Test(arguments: [(String(repeating: "a", count: 64), 1), ("A", 0), ("", 0)])
  func anAttachmentDocumentWithoutItsDigestIsRefused(_ digest: String, _ count: Int) throws {
    let fields = RecordFields([
      "name": .text("a.jpg"), "type": .text("image/jpeg"), "size": .number(3), "sha256": .text(digest),
    ])
    var state = Sample.bolus
    (state.kind, state.fields) = (.attachment, fields)
    let part = NightscoutPart(guid: Sample.guid, state: state)
    let members = NightscoutTreatment.members(part, identifier: part.guid, shift: 0, Self.writer)
    let taken = try imported([(.treatments, .object(members))])
    #expect(taken.records.count == count && taken.refusals == 1 - count)
  }

  @Test func aDeviceWhoseNameAPIv1WouldRewriteKeepsItsIdentity() throws {
    let device = Device(vendor: "A<b>", model: "<i>m", serial: "1 < 2 & 3", format: "x")
    let members = NightscoutEntry.members(
      Sample.reading, device, identifier: Sample.guid, shift: 0, Self.writer)
    #expect(!JSONValue.object(members).json.contains("<"))
    let documents = [(NightscoutCollection.entries, JSONValue.object(members))]
    let pulled = try pulled(documents)
    #expect(pulled.readings.count == 1 && pulled.readings[0].contains("1 < 2 & 3"))
    #expect(try imported(documents) == pulled)
  }
}

extension SeededNumbers {
  private mutating func one(_ values: [JSONValue]) -> JSONValue {
    values[Int.random(in: values.indices, using: &self)]
  }

  /// Random values for some of these members. Each member may be missing.
  private mutating func members(_ choices: [String: [JSONValue]]) -> [String: JSONValue] {
    var members: [String: JSONValue] = ["identifier": .text(guid())]
    for (name, values) in choices.sorted(by: { $0.key < $1.key })
    where Int.random(in: 0..<4, using: &self) > 0 {
      members[name] = one(values)
    }
    return members
  }

  private static let times: [JSONValue] = [
    .number(1_778_085_000_123), .number(1_778_085_000), .text("1778085000123"),
    .text("2026-05-06T16:30:00.04Z"), .text("2026-05-06T16:30:00.123+02:00"), .text("2026-05-06 16:30:00"),
    .text("2026-10-25T02:30:00"), .text("soon"), .text("2026-05-06T16:30"), .number(0), .null,
  ]

  mutating func foreignEntry() -> [String: JSONValue] {
    var entry = members([
      "sgv": [
        .number(120), .number(39), .number(401), .number(5), .number(5.6), .number(1200), .text("100"),
        .text("?"),
      ],
      "mbg": [.number(0), .number(90), .number(5000), .null], "date": Self.times, "dateString": Self.times,
      "utcOffset": [.number(0), .number(-240), .text("60"), .number(100_000)],
      "device": [
        .text("xDrip"), .text(" share2 "), .text(String(repeating: "d", count: 300)), .text(""), .number(7),
        .text("  "), .text("a\0b"), .text("\u{A0}x"),
      ],
      "units": [.text("mg/dl"), .text("mmol"), .text(""), .text("?")],
    ])
    entry["type"] = one([.text("sgv"), .text("sgv"), .text("mbg"), .text("cal"), .text("rawbg")])
    return entry
  }

  mutating func foreignTreatment() -> [String: JSONValue] {
    let amounts: [JSONValue] = [.number(4.5), .number(0), .text("2"), .number(90_000), .text("much"), .null]
    let texts: [JSONValue] = [
      .text("lunch"), .text("5 &lt; 6"), .text("a &amp; b"), .text("  "), .text("<i>x"),
    ]
    var treatment = members([
      "insulin": amounts, "carbs": amounts, "fat": amounts, "duration": amounts,
      "durationInMilliseconds": [.number(90_000)], "absolute": amounts,
      "percent": [.number(-35), .number(-100)],
      "enteredinsulin": amounts, "splitExt": [.number(40), .number(400)], "relative": amounts,
      "isBasalInsulin": [.flag(true), .flag(false)], "notes": texts, "subject": [.text("phone")],
      "glucose": [.number(100), .number(6.1), .number(0), .text("?"), .number(5000)],
      "glucoseType": [.text("Finger"), .text("Manual"), .text("Sensor")],
      "units": [.text("mg/dl"), .text("mmol"), .text("?")], "date": Self.times, "mills": Self.times,
      "utcOffset": [.number(0), .number(120)], "app": [.text("phone")],
    ])
    treatment["eventType"] = one(
      [
        "Meal Bolus", "Combo Bolus", "Temp Basal", "Exercise", "BG Check", "Note", "Announcement",
        " Site Change ",
      ]
      .map(JSONValue.text))
    treatment["created_at"] = one(Self.times)
    return treatment
  }
}
