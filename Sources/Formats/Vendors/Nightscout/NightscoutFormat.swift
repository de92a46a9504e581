// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Nightscout entries and treatments, from API v1 and v3 or mongoexport: JSON, CSV and TSV, in any mixture.
///
/// `date` is reliable and in UTC: milliseconds since 1970, as in lib/api3/swagger.yaml of cgm-remote-monitor.
/// The shown time may come from the logbook's zone. So the instant itself identifies a reading, and an import
/// in another zone finds the same readings. Other tools write a clock time without an offset into `date`;
/// such a time is a shown time in the logbook's zone.
struct NightscoutFormat: ExportFormat {
  static let id = "nightscout"
  static let title = "Nightscout JSON or CSV"
  static let summary =
    "sensor readings, meter readings, insulin, carbohydrates, exercise, notes; also the file of xDrip4iOS"
  static var emptyList: Header? { .objects }
  static var passesOffsetsOn: Bool { true }

  /// The members that glucoport adds to a treatment: the records of glucoport, and the mark of a moved
  /// treatment.
  private static let ownNames = ["glucoport.parts", "glucoport.moved"]
  private static let partsPlace = NightscoutMember.names.count
  private static let movedPlace = partsPlace + 1
  /// The value of an entry in what a server has in memory (`ddata`), instead of `sgv` or `mbg`.
  private static let loadedName = "mgdl"
  private static let loadedPlace = movedPlace + 1
  private static let names = NightscoutMember.names + ownNames + [loadedName]

  /// The member with all parts of a reading's identity, in documents of glucoport.
  private static let identityPrefix = "glucoport."
  private static let memberNames = names + GlucoportColumns.names.map { identityPrefix + $0 }

  /// The source of treatments that xDrip4iOS has not sent to a site.
  private static let appSource = "xDrip4iOS file"

  /// The model of entries without a device.
  private static let unnamedDevice: StaticString = "Nightscout"

  /// The columns of API v1's CSV and TSV. These tables have no header.
  private static let plainColumns = ["dateString", "date", "sgv", "direction", "device"]

  private var columns: NamedColumns
  /// The columns of entries as a server has them in memory, by the kind of entry.
  private let loadedColumns: (sensor: NamedColumns, meter: NamedColumns)
  private let unit: GlucoseUnit?
  private let isTable: Bool
  private var units: NightscoutUnits
  private let entriesStateUnits: Bool
  private let zone: NightscoutZone
  private var zoneOffsets: ZoneOffsets
  private var identity = GlucoportIdentity(columns: Self.memberNames, prefix: Self.identityPrefix)

  /// The layout of an input: JSON objects, a table with a header, or the table of API v1, which has no
  /// header.
  enum Header {
    case objects
    case named(HeaderRow<Void>)
    case plain(rows: ArraySlice<[String]>)
  }

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Header>? {
    if head.isJSON {
      let isOurs = head.objects.contains(where: isItem) || (head.objects.isEmpty && isEmptyAnswer(head))
      return isOurs ? Recognition(layout: .objects(columns: memberNames), header: .objects) : nil
    }
    if let row = head.firstRow(where: isHeader) {
      return Recognition(layout: .table(delimiter: row.delimiter), header: .named(row))
    }
    return plainTable(head).map {
      Recognition(layout: .table(delimiter: $0), header: .plain(rows: head.rows($0)[...]))
    }
  }

  init(_ found: Recognition<Header>, head: InputHead, options: ExportOptions) {
    zone = NightscoutZone(zone: options.zone)
    zoneOffsets = ZoneOffsets(options.zone)
    unit = options.unit
    units = NightscoutUnits(given: options.unit, values: Self.values(head, found.header))
    entriesStateUnits = head.objects.contains { $0["units"] != nil && ($0["sgv"] ?? $0["mbg"]) != nil }
    let members = NamedColumns(members: Self.memberNames).reading(
      NightscoutMember.date.place, from: NightscoutMember.mills.place)
    loadedColumns = (
      sensor: members.reading(NightscoutMember.sgv.place, from: Self.loadedPlace),
      meter: members.reading(NightscoutMember.mbg.place, from: Self.loadedPlace)
    )
    switch found.header {
    case .objects: (isTable, columns) = (false, NamedColumns(members: Self.memberNames))
    case .named: (isTable, columns) = (true, NamedColumns(cells: Self.names, marks: Self.headerMarks))
    case .plain:
      isTable = true
      columns = NamedColumns(cells: Self.names, marks: Self.headerMarks, order: Self.plainColumns)
    }
  }

  var decisions: [Decision] {
    let usual = units.given ?? .milligramsPerDecilitre
    return [
      entriesStateUnits
        ? Decision("unit", "as each row says, else \(usual.name)", .read)
        : Decision("unit", usual.name, units.given == nil ? .fixed : .given),
      .yearFirst,
    ]
  }

  // The table of API v1 has no header, but always the same columns.
  func maxCells(below header: Row?) -> Int? {
    header?.filledCount ?? (columns.count > 0 ? columns.count : nil)
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if isTable {
      if columns.readHeader(row, isHeader: Self.isHeader) { return .header }
      if columns.count == 0 { return .unknown("before the header, or not a row of Nightscout") }
    }
    let document = NightscoutRow(row: row, columns: columns(of: row))
    if document[.isValid].equals("false") {
      readDeleted(document, into: &out)
      return .data
    }
    if !isTable, !identity.field(.positionKind, of: row).isEmpty {
      readOwn(row, into: &out)
      return .data
    }
    switch NightscoutEntry.content(of: document, &units) {
    case .reading(let kind, let measurement, let marks, let instant):
      add(kind, measurement, marks, at: instant, shown(instant, document), document, into: &out)
    case .skipped(let name): out.skip(name)
    case .rejected(let reason): out.reject(row, Self.withHint(reason))
    case .treatment: readTreatment(document, into: &out)
    case .unknown: return .unknown("not an entry or treatment of Nightscout")
    }
    return .data
  }

  /// The columns of a row. An entry as a server has it in memory has the members `mgdl` and `mills`.
  @inline(__always) private func columns(of row: Row) -> NamedColumns {
    guard !isTable, !row[columns[Self.loadedPlace]].isEmpty, row[columns[NightscoutMember.date.place]].isEmpty
    else { return columns }
    let type = row[columns[NightscoutMember.type.place]]
    if type.equals("sgv") { return loadedColumns.sensor }
    return type.equals("mbg") ? loadedColumns.meter : columns
  }

  /// Adds to a reason the option with which a person can state the missing unit.
  private static func withHint(_ reason: String) -> String {
    switch reason {
    case NightscoutRefusal.likeMillimoles: reason + "; if it is mmol/L, use --unit mmol/L"
    case NightscoutRefusal.unknownUnit: reason + "; use --unit"
    default: reason
    }
  }

  /// Adds an entry of glucoport. The entry states its identity, so the identity is not derived from the date.
  private mutating func readOwn(_ row: Row, into out: inout BatchBuilder) {
    switch identity.reading(from: row, into: &out) {
    case .reading(let reading): out.add(reading)
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  @inline(__always)
  private mutating func add(
    _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks, at instant: Instant,
    _ shown: ShownTime, _ document: NightscoutRow, into out: inout BatchBuilder
  ) {
    let reading = NightscoutEntry.reading(
      kind, measurement, marks, at: instant, shown, out.placement(of: shown),
      device: device(document, in: &out),
      line: document.row.line)
    out.add(reading, byClock: instant.isWallClock)
  }

  @inline(__always)
  private func device(_ document: NightscoutRow, in out: inout BatchBuilder) -> DeviceIndex {
    let model = document[.device]
    if model.isEmpty {
      return out.device(vendor: "Nightscout", model: .fixed(Self.unnamedDevice), serial: .absent)
    }
    guard Self.isPlain(model) else { return out.device(NightscoutEntry.device(document)) }
    return out.device(vendor: "Nightscout", model: model, serial: .absent)
  }

  /// Whether a device's name can be its model unchanged: short, ASCII, with blanks only between words.
  @inline(__always)
  private static func isPlain(_ model: Field) -> Bool {
    guard model.shape != .composite, model.count <= NightscoutEntry.maxModel, model[0] > 0x20,
      model[model.count - 1] > 0x20
    else { return false }
    for index in 0..<model.count where model[index] < 0x20 || model[index] >= 0x7F { return false }
    return true
  }

  /// The time to show for an instant: with the row's offset, else with that of the logbook's zone.
  @inline(__always)
  private mutating func shown(_ instant: Instant, _ document: NightscoutRow) -> ShownTime {
    document.shown(instant) { zoneOffsets.offset(atUTC: $0) }
  }
}

// MARK: - Treatments

extension NightscoutFormat {
  /// Reads a treatment. It may hold insulin, food and a blood glucose value with the same time.
  private mutating func readTreatment(_ document: NightscoutRow, into out: inout BatchBuilder) {
    let row = document.row
    guard row[columns[Self.movedPlace]].isEmpty else { return out.skip("moved in time") }
    let parts = NightscoutPart.parts(json: row[columns[Self.partsPlace]])
    for part in parts {
      let record = record(part, document)
      // A tombstone may have no fields, so there is nothing to check.
      let mayLack = record.deleted && record.fields.values.isEmpty
      if !mayLack, let fault = record.kind.details?.fault(in: record.fields) {
        out.reject(row, fault)
      } else {
        out.add(record)
      }
    }
    if document[.app].equals("glucoport") {
      // A record made from the members for other programs would have another identity, and a dose would count
      // twice. So the document is rejected.
      if parts.isEmpty {
        out.reject(row, "a record of glucoport without its own data; import an export in JSON")
      }
      return
    }
    guard let instant = document.treatmentInstant else { return out.reject(row, NightscoutRefusal.noDate) }
    let content = NightscoutTreatment.content(
      of: document, unit: unit, hasOwnDose: parts.contains { $0.state.kind == .insulin })
    let time = shown(instant, document)
    let id = sourceID(document)
    let hasID = ownID(document) != nil
    // The app adds the id of the site when it sends a treatment, so a later export has it. Before, the source
    // differs from that of the site, so that a treatment without and with an id counts once.
    let source = !hasID && document.isOfApp ? Self.appSource : NightscoutTreatment.source(of: document)
    let made = parts.isEmpty ? [] : Set(content.records.map { NightscoutTreatment.guid(id, $0.part) })
    for (kind, part, fields) in content.records {
      // A record is left out if a `NightscoutPart` of the treatment has the same record, or replaces the main
      // record of this kind.
      let isTaken = parts.contains { own in
        own.guid == NightscoutTreatment.guid(id, part)
          || part == kind.rawValue && own.state.kind == kind && !made.contains(own.guid)
      }
      if isTaken { continue }
      // Documents without an id are rows of a table, which have equal times and types if they are separate
      // doses.
      let event = document[.eventType].trimmed.text
      out.add(
        kind, at: time, owner: hasID ? document[.device].text : "\(event) \(source)", source: source,
        sourceID: hasID ? "\(id)/\(part)" : "", line: row.line, byClock: instant.isWallClock, fields)
    }
    if let (measurement, marks) = content.glucose {
      add(.smbg, measurement, marks, at: instant, time, document, into: &out)
    }
    for name in content.skipped { out.skip(name) }
    for reason in content.rejections { out.reject(row, Self.withHint(reason)) }
  }

  /// Reads a document that was deleted on the site. A treatment of another program is read as its records,
  /// which the store hides. Without content, it hides the stored records with its id. Other documents are
  /// only counted.
  private mutating func readDeleted(_ document: NightscoutRow, into out: inout BatchBuilder) {
    guard document[.sgv].isEmpty, NightscoutEntry.isTreatment(document, document[.type]),
      document.row[columns[Self.movedPlace]].isEmpty, document.row[columns[Self.partsPlace]].isEmpty,
      !document[.app].equals("glucoport"), let id = ownID(document), let instant = document.treatmentInstant
    else { return out.skip("deleted") }
    let time = shown(instant, document)
    var records = NightscoutTreatment.content(of: document, unit: unit, hasOwnDose: false).records
    if records.isEmpty {
      out.skip("deleted")
      records = [RecordKind.insulin, .food, .exercise, .note].map { ($0, $0.rawValue, [:]) }
    }
    for (kind, part, fields) in records {
      out.add(
        kind, at: time, owner: document[.device].text, source: NightscoutTreatment.source(of: document),
        sourceID: "\(id)/\(part)", isDeletedAtSource: true, line: document.row.line,
        byClock: instant.isWallClock, fields)
    }
  }

  /// The record of glucoport that a `NightscoutPart` of the treatment contains.
  private func record(_ part: NightscoutPart, _ document: NightscoutRow) -> ImportedRecord {
    let state = NightscoutTreatment.edited(part, in: document, zone)
    var record = ImportedRecord(
      kind: state.kind, at: state.deviceTime, placement: state.placement, fields: state.fields,
      line: document.row.line)
    (record.guid, record.entryGuid, record.deleted) = (part.guid, state.entryGuid, state.isDeleted)
    record.provenance = state.provenance
    return record
  }

  /// The id of a document: its `identifier`, or else its `_id`, which is the `identifier` that API v3 returns
  /// for a document of API v1. A document without both is identified by its time and its event type.
  private func sourceID(_ document: NightscoutRow) -> String {
    if let id = ownID(document) { return id }
    let time = document[.createdAt].isEmpty ? document[.eventTime] : document[.createdAt]
    return time.text + document[.eventType].trimmed.text
  }

  /// The server's own key. A document of API v1 has no `identifier`, and API v3 uses its `_id`.
  private func ownID(_ document: NightscoutRow) -> String? {
    for member in [NightscoutMember.identifier, .id] {
      let key = document[member]
      if key.shape != .composite, !key.isEmpty { return Self.objectID(key.text) ?? key.text }
    }
    return nil
  }

  /// The id in a cell as the database's tools write it to CSV: `ObjectId(5cd4212a614598d46eb40db7)` or
  /// `{'$oid': '5cd4212a614598d46eb40db7'}`. Nil for any other text.
  private static func objectID(_ text: String) -> String? {
    guard text.hasPrefix("ObjectId(") || text.contains("$oid"), text.utf8.count <= 64 else { return nil }
    let runs = text.split { !$0.isHexDigit || !$0.isASCII }.filter { $0.count == 24 }
    return runs.count == 1 ? String(runs[0]) : nil
  }
}

extension NightscoutFormat {
  private static func isItem(_ object: [String: String]) -> Bool {
    let isTimed = object["date"] != nil || object["dateString"] != nil
    if isTimed, object["sgv"] != nil || object["mbg"] != nil { return true }
    if isTimed, object["type"] == "cal", object["slope"] != nil { return true }
    if object[loadedName] != nil, object["mills"] != nil, ["sgv", "mbg"].contains(object["type"]) {
      return true
    }
    guard object["eventType"] != nil else { return false }
    // The export of xDrip4iOS has treatments as the app sends them to a site, before the site adds
    // `created_at`.
    return object["created_at"] != nil || object["eventTime"] != nil && object["enteredBy"] != nil
  }

  /// Whether the whole input is a response of API v3. If it holds no objects, its result is an empty list.
  private static func isEmptyAnswer(_ head: InputHead) -> Bool {
    let text = head.lines.joined()
    return head.isWhole && text.contains("\"status\"") && text.contains("\"result\"")
  }

  /// The first values of entries without a unit.
  private static func values(_ head: InputHead, _ header: Header) -> [Double] {
    switch header {
    case .objects:
      return head.objects.filter { $0["units"] == nil }.compactMap {
        ($0["sgv"] ?? $0["mbg"] ?? $0[loadedName]).flatMap(Double.init)
      }
    case .named(let header):
      let cells = header.cells.map(foldedHeader)
      guard !cells.contains("units") else { return [] }
      let columns = ["sgv", "mbg"].compactMap { cells.firstIndex(of: $0) }
      return header.rows.flatMap { row in columns.compactMap { $0 < row.count ? Double(row[$0]) : nil } }
    case .plain(let rows): return rows.compactMap { $0.count > 2 ? Double($0[2]) : nil }
    }
  }

  /// Each header has at least one of these names.
  private static let headerMarks: [StaticString] = ["date", "created_at"]

  private static func isHeader(_ cells: [String]) -> Bool {
    cells.contains("date") && (cells.contains("sgv") || cells.contains("mbg"))
      || cells.contains("eventtype") && cells.contains("created_at")
  }

  /// The delimiter of a table of API v1 without a header. Nil if the first row is not like a row of such a
  /// table.
  private static func plainTable(_ head: InputHead) -> UInt8? {
    InputHead.delimiters.first { delimiter in
      head.rows(delimiter).first.map { isPlainRow($0.map(foldedHeader)) } ?? false
    }
  }

  /// The folded words in the fourth column of API v1's table.
  private static let directions: Set<String> = [
    "", "none", "flat", "singleup", "doubleup", "tripleup", "fortyfiveup", "singledown", "doubledown",
    "tripledown", "fortyfivedown", "not computable", "rate out of range", "null", "undefined",
  ]

  /// Whether cells are like a row of API v1, which has five cells. The second one has thirteen digits and
  /// optionally a fraction, and the fourth one a direction.
  private static func isPlainRow(_ cells: [String]) -> Bool {
    guard cells.count == plainColumns.count, directions.contains(cells[3]) else { return false }
    let date = cells[1].prefix { $0 != "." }
    return date.utf8.count == 13 && date.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      && cells[2].utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
      && (cells[0].isEmpty || cells[0].utf8.first.map { $0 >= 0x30 && $0 <= 0x39 } == true)
  }
}

/// A row of an export as a document of Nightscout.
private struct NightscoutRow: NightscoutFields {
  let row: Row
  let columns: NamedColumns

  @inline(__always) subscript(member: NightscoutMember) -> Field { row[columns[member.place]] }

  /// Whether this is a treatment as xDrip4iOS exports it: no site has stored it in this form.
  var isOfApp: Bool {
    !self[.eventTime].isEmpty
      && [NightscoutMember.createdAt, .date, .timestamp, .mills].allSatisfy { self[$0].isEmpty }
  }
}

extension Field: NightscoutValue {
  var plainText: String { shape == .composite ? "" : text }

  var statedOffset: Int32? { yearFirstTime?.utcOffset }

  @inline(__always) var endsInZ: Bool { count > 0 && start[count - 1] | 0x20 == UInt8(ascii: "z") }

  func glucoseWord(_ unit: GlucoseUnit) -> CellValue { GlucoseReader(unit: unit).read(self) }
}

extension NightscoutPart {
  /// The parts in a JSON list; empty for anything else.
  static func parts(json field: Field) -> [NightscoutPart] { parts(field.json) }
}

extension Field {
  /// The text that an object in this field holds in base64, as in documents of glucoport; empty for any other
  /// value.
  var openedText: String { NightscoutText.decoded(json) ?? "" }

  /// The list or the object in this field; nil for any other value, including damaged JSON.
  fileprivate var json: JSONValue? {
    guard shape == .composite else { return nil }
    do {
      return try JSONValue.read([UInt8](bytes))
    } catch {
      return nil
    }
  }
}

extension NightscoutFormat {
  static let page = FormatPage(
    origin: [
      "curl 'https://SITE/api/v1/entries.json?count=100000' | glucoport import -",
      "curl 'https://SITE/api/v1/treatments.json?count=100000' | glucoport import -",
      "or make the site the remote of the store: see glucoport-nightscout(7)",
    ],
    variants: [
      "answers of API versions 1 and 3: JSON, NDJSON, CSV, TSV",
      "mongoexport of the collections entries and treatments",
      "what a server has in memory: /api/v2/ddata, with the lists sgvs, mbgs and treatments",
      "xDrip4iOS: the JSON file with all its data",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings and finger sticks of entries",
      "treatments: finger sticks, insulin, temporary basal rates, carbohydrates, notes, exercise",
    ],
    notRead: [
      "calibration lines, profiles, device status; xDrip4iOS writes the first stick of a sensor as two calibrations",
      "error codes of a sensor, which are counted",
      "deleted entries, which are counted; the records of deleted treatments are hidden",
    ])
}
