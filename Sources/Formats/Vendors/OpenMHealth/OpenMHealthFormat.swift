// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Data points of Open mHealth, or separate bodies, with the schema `omh:blood-glucose` 1.0 to 4.0. Ids of
/// users are neither stored nor printed.
struct OpenMHealthFormat: ExportFormat {
  static let id = "openmhealth"
  static let title = "Open mHealth JSON"
  static let summary = "blood glucose of data points with the schema omh:blood-glucose"
  static var emptyList: Void? { () }
  static var passesOffsetsOn: Bool { true }
  static let picksRows = true

  private static let bodyMembers = [
    "blood_glucose.value", "blood_glucose.unit", "effective_time_frame.date_time",
    "effective_time_frame.time_interval.start_date_time", "effective_time_frame.time_interval.end_date_time",
    "specimen_source", "blood_specimen_type", "temporal_relationship_to_meal",
    "temporal_relationship_to_sleep", "descriptive_statistic", "user_notes",
  ]
  private enum Body {
    static let value = 0, unit = 1, instant = 2, start = 3, end = 4, specimen = 5, blood = 6, meal = 7
    static let sleep = 8, statistic = 9, notes = 10
    static let count = 11
  }
  private static let headerMembers = [
    "schema_id.name", "schema_id.namespace", "acquisition_provenance.source_name",
    "acquisition_provenance.modality", "modality", "user_id",
  ]
  private enum Head {
    static let schema = 0, space = 1, source = 2, modality = 3, ieeeModality = 4, user = 5
  }

  /// The members of a body in a data point, of a separate body, and of the header.
  private static let names =
    bodyMembers.map { "body." + $0 } + bodyMembers + headerMembers.map { "header." + $0 }
  private static let headerPlace = 2 * Body.count
  /// The member of the header with all parts of a reading's identity, in data points of glucoport.
  private static let identityPrefix = "header.glucoport."
  private static let memberNames = names + GlucoportColumns.names.map { identityPrefix + $0 }

  private let kind: ReadingKind
  private let model: String
  private var identity = GlucoportIdentity(columns: Self.memberNames, prefix: Self.identityPrefix)
  private let options: ExportOptions
  private var zoneOffsets: ZoneOffsets
  private var people = InputPeople(column: "header.user_id")
  private let namesUsers: Bool
  private var skipped: Set<String> = []

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    let isOwn = head.objects.contains { object in
      let isPoint = object["header.schema_id.name"] != nil && object["header.schema_id.namespace"] != nil
      return isPoint || ["body.", ""].contains { isBody(object, $0) }
    }
    return isOwn ? Recognition(.objects(columns: memberNames)) : nil
  }

  private static func isBody(_ object: [String: String], _ prefix: String) -> Bool {
    let hasTime = [Body.instant, Body.start, Body.end].contains { object[prefix + bodyMembers[$0]] != nil }
    return hasTime && object[prefix + bodyMembers[Body.value]] != nil
      && object[prefix + bodyMembers[Body.unit]] != nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) throws {
    self.options = options
    zoneOffsets = ZoneOffsets(options.zone)
    namesUsers = head.objects.contains { $0["header.user_id"] != nil }
    try people.pickOnly(options.rows, in: Self.title)
    kind = options.kind ?? .smbg
    model = options.device ?? "Open mHealth"
  }

  var decisions: [Decision] {
    [Decision("unit", "as each data point says", .read)]
      + (options.kind.map { [Decision("kind", $0.name, .given)] } ?? [])
  }

  var benefitsFromSurvey: Bool { namesUsers }

  mutating func survey(_ row: Row) { people.observe(row[Self.headerPlace + Head.user].text) }

  mutating func decide() throws { try people.decide(ImportHint(options: options)) }

  var failureAtEnd: Failure? { people.missing }

  var statedPersons: [StatedPerson] { people.statedPersons(of: Self.id) }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard people.reads(row[Self.headerPlace + Head.user].text, row, into: &out) else { return .data }
    let isPoint = !row[Self.headerPlace + Head.schema].isEmpty
    let place = row[Body.value].isEmpty && row[Body.unit].isEmpty ? Body.count : 0
    let hasBody = !row[place + Body.value].isEmpty || !row[place + Body.unit].isEmpty
    if !hasBody {
      guard isPoint else { return .unknown("not a data point of Open mHealth") }
      skip(row[Self.headerPlace + Head.schema].text, into: &out)
    } else if isPoint, !row[Self.headerPlace + Head.schema].equals("blood-glucose") {
      // A goal or a limit may have the same members as a measurement. The schema distinguishes them.
      skip(row[Self.headerPlace + Head.schema].text, into: &out)
    } else if !identity.field(.positionKind, of: row).isEmpty {
      readOwn(row, place, into: &out)
    } else if let name = Self.omission(of: row, place) {
      skip(name, into: &out)
    } else {
      read(row, place, into: &out)
    }
    return .data
  }
}

extension OpenMHealthFormat {
  /// Adds a data point of glucoport. Its header states the identity of the reading, and its body the value.
  private mutating func readOwn(_ row: Row, _ place: Int, into out: inout BatchBuilder) {
    guard let unit = FHIRCode.unit(row[place + Body.unit].text),
      let number = row[place + Body.value].jsonNumber,
      PlausibleAmounts.stated.contains(number)
    else { return out.reject(row, "invalid value or unit") }
    switch identity.reading(from: row, measurement: .value(Quantity(number, unit)), into: &out) {
    case .reading(let reading): out.add(reading)
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// The name under which a body that is not a reading is counted; nil for a reading.
  private static func omission(of row: Row, _ place: Int) -> String? {
    if !row[place + Body.statistic].isEmpty { return "statistic of blood glucose" }
    let specimen = row[place + Body.specimen]
    if !specimen.isEmpty, kind(of: specimen) == nil { return "glucose in \(specimen.text)" }
    let blood = row[place + Body.blood]
    return blood.isEmpty || blood.equals("whole blood") ? nil : "glucose in \(blood.text)"
  }

  private static func kind(of specimen: Field) -> ReadingKind? {
    if specimen.equals("interstitial fluid") { return .cbg }
    return specimen.equals("capillary blood") ? .smbg : nil
  }

  private mutating func read(_ row: Row, _ place: Int, into out: inout BatchBuilder) {
    let times = [Body.instant, Body.start, Body.end].map { row[place + $0] }
    guard let time = times.first(where: { !$0.isEmpty })?.yearFirstTime else {
      return out.reject(row, "invalid or missing time; expected YYYY-MM-DDThh:mm:ss+hh:mm")
    }
    guard let unit = FHIRCode.unit(row[place + Body.unit].text) else {
      return out.reject(row, "the unit is neither mg/dL nor mmol/L")
    }
    guard let number = row[place + Body.value].jsonNumber else {
      return out.reject(row, "the glucose value is not a number")
    }
    if !row[place + Body.notes].isEmpty { out.skip("user_notes") }
    switch CellValue(glucose: number, unit) {
    case .measurement(let measurement): add(measurement, at: time, row, place, into: &out)
    case .rejected(let reason): out.reject(row, reason)
    case .empty: out.skip("blood glucose without a value")
    }
  }

  /// Adds a reading. Its instant identifies it; a time without an offset is a shown time.
  private mutating func add(
    _ measurement: Measurement, at time: ShownTime, _ row: Row, _ place: Int, into out: inout BatchBuilder
  ) {
    let device = device(row, in: &out)
    let kind = Self.kind(of: row[place + Body.specimen]) ?? kind
    let marks = Self.marks(row, place)
    let time = zoneOffsets.localised(time)
    let placement = out.placement(of: time)
    guard let offset = time.utcOffset else {
      return out.add(
        Reading(
          device: device, kind: kind, at: time.deviceTime, placement: placement, measurement, marks: marks,
          line: row.line), byClock: true)
    }
    out.add(
      Reading(
        device: device, kind: kind, tick: time.deviceTime.seconds - Int64(offset), at: time.deviceTime,
        placement: placement, measurement, marks: marks, line: row.line))
  }

  private static func marks(_ row: Row, _ place: Int) -> ReadingMarks {
    var marks: ReadingMarks = []
    let meal = row[place + Body.meal]
    if meal.equals("fasting") { marks.insert(.fasting) }
    if meal.starts(with: "before ") { marks.insert(.beforeMeal) }
    if meal.starts(with: "after ") || meal.equals("2 hours postprandial") { marks.insert(.afterMeal) }
    if row[place + Body.sleep].equals("before sleeping") { marks.insert(.bedtime) }
    let modalities = [Head.modality, Head.ieeeModality].map { row[headerPlace + $0] }
    if modalities.contains(where: { $0.equals("self-reported") }) { marks.insert(.manual) }
    return marks
  }

  /// The device of a data point. Data of several people in one input become several devices, whose names do
  /// not have the people's ids.
  private mutating func device(_ row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    let source = row[Self.headerPlace + Head.source].trimmed
    let scalars = source.text.unicodeScalars.prefix(100).filter { $0.value >= 0x20 && $0.value != 0x7F }
    var name = source.isEmpty ? model : String(String.UnicodeScalarView(scalars))
    let user = row[Self.headerPlace + Head.user]
    if !user.isEmpty { name += " " + InputPeople.shortDigest(of: user.text) }
    return out.device(Device(vendor: "Open mHealth", model: name, format: Self.id))
  }

  /// Counts an item that is not imported, by name. The number of names is limited, since a hostile input
  /// could have a different one in each item.
  private mutating func skip(_ name: String, into out: inout BatchBuilder) {
    let short = String(String.UnicodeScalarView(name.unicodeScalars.prefix(40)))
    if skipped.count < 100 { skipped.insert(short) }
    out.skip(skipped.contains(short) ? short : "other data points")
  }
}

extension OpenMHealthFormat {
  static let page = FormatPage(
    origin: [
      "from an app or a study that hands out data as Open mHealth: data points, as JSON or NDJSON",
      "from another logbook: glucoport export --format openmhealth",
    ],
    variants: [
      "data points with their header, or bodies alone",
      "omh:blood-glucose 1.0 to 4.0",
      "mg/dL and mmol/L, by the unit of each data point",
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "glucose in interstitial fluid as sensor readings, glucose in capillary blood as finger sticks",
      "a value without a specimen as a finger stick, unless --kind says otherwise",
      "fasting, before or after meals, before sleeping, self-reported",
    ],
    notRead: [
      "statistics, other specimens and other schemas, which are counted",
      "user_notes, which are counted",
      "ids of users, which are never stored or printed",
    ])
}

/// Writes readings as data points of Open mHealth with bodies of `omh:blood-glucose`, in one JSON array. The
/// header has all parts of the identity in the member `glucoport`.
package struct OpenMHealthWriter: ReadingDocumentWriter {
  private var isFirst = true
  private var identity = GlucoportJSONLine()

  package init() {}

  /// The text before the first data point.
  package var header: String { "[" }
  /// The text after the last data point.
  package var footer: String { "\n]\n" }

  /// The reason why a reading is left out, since the schema cannot represent it; nil if it is written.
  package static func omission(of reading: GlucoportReading) -> ReadingOmission? {
    if reading.kind == .ketone || reading.marks.contains(.controlSolution) { return .otherSubstance }
    if reading.isWithdrawn { return .withdrawn }
    return reading.measurement.quantity == nil ? .beyondRange : nil
  }

  /// Appends a reading that is not left out.
  package mutating func append(_ item: GlucoportReading, to out: inout [UInt8]) {
    guard let quantity = item.measurement.quantity else { return }
    out.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
    isFirst = false
    let time = item.deviceTime.zonedText(item.placement)
    out.append(contentsOf: #"{"header":{\#(Self.header(item, time)),"glucoport":"#.utf8)
    identity.begin()
    GlucoportItem.reading(item).write(inBothUnits: false, to: &identity)
    out.append(contentsOf: identity.bytes)
    out.append(contentsOf: "}},".utf8)
    out.append(contentsOf: #""body":{\#(Self.body(item, quantity, time))}}"#.utf8)
  }

  private static func header(_ item: GlucoportReading, _ time: String) -> String {
    let identity = ReadingIdentity(
      device: item.device, kind: item.kind, positionKind: item.positionKind, position: item.position,
      valueBucket: item.valueBucket, occurrence: item.occurrence)
    let source = [item.device.vendor, item.device.model].filter { !$0.isEmpty }.joined(separator: " ")
    let modality = item.marks.contains(.manual) ? "self-reported" : "sensed"
    return #""id":"\#(identity.uuid)","creation_date_time":"\#(time)","#
      + #""schema_id":{"namespace":"omh","name":"blood-glucose","version":"4.0"},"#
      + #""acquisition_provenance":{"source_name":\#(jsonText(source.isEmpty ? item.device.format : source)),"#
      + #""source_creation_date_time":"\#(time)","modality":"\#(modality)"}"#
  }

  private static func body(_ item: GlucoportReading, _ quantity: Quantity, _ time: String) -> String {
    let source = item.kind == .smbg ? "capillary blood" : "interstitial fluid"
    var members = [
      #""blood_glucose":{"value":\#(plainNumber(quantity.number)),"unit":"\#(quantity.unit.name)"}"#,
      #""effective_time_frame":{"date_time":"\#(time)"}"#, #""specimen_source":"\#(source)""#,
    ]
    let meals: [(mark: ReadingMarks, word: String)] = [
      (.fasting, "fasting"), (.beforeMeal, "before meal"), (.afterMeal, "after meal"),
    ]
    if let word = meals.first(where: { item.marks.contains($0.mark) })?.word {
      members.append(#""temporal_relationship_to_meal":"\#(word)""#)
    }
    if item.marks.contains(.bedtime) {
      members.append(#""temporal_relationship_to_sleep":"before sleeping""#)
    }
    return members.joined(separator: ",")
  }
}
