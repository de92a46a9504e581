// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Responses of LibreLinkUp's API: `graph`, `logbook` and `connections`. `FactoryTimestamp` is UTC,
/// `Timestamp` the local time. The account's token, names and patient ids are neither stored nor printed.
struct LibreLinkUpFormat: ExportFormat {
  static let id = "librelinkup"
  static let title = "LibreLinkUp JSON"
  static let summary = "sensor history and the newest or logged sensor values"
  static var emptyList: Void? { () }
  static let picksRows = true

  private enum Name {
    static let factory = 0, shown = 1, value = 2
    static let count = 3
  }

  private static let members = ["FactoryTimestamp", "Timestamp", "ValueInMgPerDl"]
  /// The paths of measurements: the item itself, or a member of a connection. A `glucoseItem` holds the same
  /// reading as a `glucoseMeasurement`.
  private static let places = [
    "", "glucoseMeasurement.", "connection.glucoseMeasurement.", "glucoseItem.", "connection.glucoseItem.",
  ]
  private static let names =
    places.flatMap { place in members.map { place + $0 } } + [
      "graphData", "patientId", "connection.patientId",
    ]
  private static let graph = names.count - 3, patient = names.count - 2, connected = names.count - 1

  /// The maximum offset of any zone, in seconds.
  private static let maxOffset: Int64 = 14 * 3600

  private let model: String
  private let options: ExportOptions
  private var people = InputPeople(column: "patientId")
  private let glucose = GlucoseReader(unit: .milligramsPerDecilitre)
  private var zoneOffsets: ZoneOffsets

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    guard head.isJSON else { return nil }
    let isOwn =
      head.objects.contains { object in
        places.contains { object[$0 + members[0]] != nil && object[$0 + members[2]] != nil }
      }
      // This is a graph whose newest value is null.
      || members.allSatisfy(head.names) && head.names("graphData")
    return isOwn ? Recognition(.objects(columns: names)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) throws {
    self.options = options
    try people.pickOnly(options.rows, in: Self.title)
    people.isFetched = options.isFetched
    if let patient = options.patient { people.pick(patient) }
    model = options.device ?? "LibreLinkUp"
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] {
    [
      .unit(.milligramsPerDecilitre),
      .dateOrder(.monthFirst, .fixed),
    ]
  }

  /// True: a survey finds measurements of several people. Without a survey, as for a pipe of successive
  /// responses, measurements of later people are rejected.
  var benefitsFromSurvey: Bool { true }

  mutating func survey(_ row: Row) { people.observe(patient(of: row)) }

  mutating func decide() throws { try people.decide(ImportHint(options: options)) }

  var failureAtEnd: Failure? { people.missing }

  var statedPersons: [StatedPerson] { people.statedPersons(of: Self.id) }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    let patient = patient(of: row)
    guard people.reads(patient, row, into: &out) else { return .data }
    let device = device(of: patient, in: &out)
    let graph = row[Self.graph]
    let place = Self.places.indices.first { !row[$0 * Name.count + Name.factory].isEmpty }
    if !graph.isEmpty {
      do {
        try NestedObjects.forEach(in: graph, columns: Self.members, line: row.line) { item in
          add(.cbg, item, at: 0, device, into: &out)
        }
      } catch {
        out.reject(row, "the readings of the graph cannot be read")
      }
    } else if place == nil {
      return .unknown("not a measurement of LibreLinkUp")
    }
    guard let place else { return .data }
    if options.isFetched, place > 0 {
      // The current value of a fetched graph is not a scan by a person, so it is skipped. Later, the sensor's
      // history has a value for the same time.
      out.skip("current value")
    } else {
      add(.scan, row, at: place * Name.count, device, into: &out)
    }
    return .data
  }

  /// The id of the person whose measurements a row has. For a logbook, which names no person, a caller can
  /// state one.
  private func patient(of row: Row) -> String {
    let named = (row[Self.patient].isEmpty ? row[Self.connected] : row[Self.patient]).text
    return named.isEmpty ? options.patient ?? "" : named
  }

  /// The device of a person. Its model ends with a short digest of the person's id, since the id itself must
  /// not be stored.
  private func device(of patient: String, in out: inout BatchBuilder) -> DeviceIndex {
    let name = patient.isEmpty ? model : "\(model) \(InputPeople.shortDigest(of: patient))"
    return out.device(Device(vendor: "Abbott", model: name, format: Self.id))
  }

  /// Adds the measurement whose members begin at a column.
  private mutating func add(
    _ kind: ReadingKind, _ row: Row, at column: Int, _ device: DeviceIndex, into out: inout BatchBuilder
  ) {
    guard let factory = row[column + Name.factory].ambiguousTime?.time(.monthFirst) else {
      return out.reject(row, "invalid or missing FactoryTimestamp; expected M/D/YYYY h:mm:ss AM")
    }
    var shown = zoneOffsets.shown(utc: factory.seconds)
    if let local = row[column + Name.shown].ambiguousTime?.time(.monthFirst) {
      let offset = local.seconds - factory.seconds
      // A local time that is a day off is ignored, since `FactoryTimestamp` states when the value was
      // measured.
      if abs(offset) <= Self.maxOffset { shown = ShownTime(local, utcOffset: Int32(offset)) }
    }
    switch glucose.read(row[column + Name.value]) {
    case .measurement(let measurement):
      out.add(
        Reading(
          device: device, kind: kind, tick: factory.seconds, at: shown.deviceTime,
          placement: out.placement(of: shown),
          measurement, line: row.line))
    case .empty: out.skip("measurement without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
  }
}

extension LibreLinkUpFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks LibreLinkUp, with its answer in a pipe: PROGRAM | glucoport import -"
    ],
    variants: [
      "answers with connections, a graph or the logbook"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "the graph of some 12 hours as sensor history",
      "the current value and those of the logbook as scans",
    ],
    notRead: [
      "tokens, names and ids of patients, which are never stored or printed"
    ])
}
