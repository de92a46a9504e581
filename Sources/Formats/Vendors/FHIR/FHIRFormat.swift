// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Observations of FHIR R4 and R5 as Bundles, NDJSON, or single resources, from hospitals, apps and exports
/// of glucoport. Names of patients and of other people are neither stored nor printed.
struct FHIRFormat: ExportFormat {
  static let id = "fhir"
  static let title = "FHIR Observations (JSON)"
  static let summary = "glucose of sensors and meters and ketones: Bundles and NDJSON of FHIR R4 and R5"
  static var emptyList: Void? { () }
  static var passesOffsetsOn: Bool { true }
  static let picksRows = true

  private static let members = ["resourceType", "subject.reference"]
  /// The members that identify a patient without a reference.
  private static let identifiers = ["subject.identifier.value", "subject.display", "meta.patient"]
  /// The members that tell the versions of a resource apart.
  private static let versions = ["id", "meta.versionId"]
  private static let names =
    members + members.map { "resource." + $0 } + [
      "resource", "fullUrl", "entry", "request", "response",
    ] + identifiers + identifiers.map { "resource." + $0 } + versions + versions.map { "resource." + $0 }
  private enum Name {
    static let type = 0, subject = 1, entryType = 2, entrySubject = 3, resource = 4, url = 5, entries = 6
    static let request = 7, response = 8
    static let identifiers = 9...11, entryIdentifiers = 12...14
    static let id = 15, version = 16, entryID = 17, entryVersion = 18
  }

  /// The resource types by which an export of patient data is recognised. The member `resourceType` by itself
  /// also occurs in JSON of other services.
  private static let types: Set<String> = [
    "AllergyIntolerance", "Bundle", "CarePlan", "CareTeam", "Claim", "Condition", "Coverage", "Device",
    "DeviceMetric", "DiagnosticReport", "DocumentReference", "Encounter", "ExplanationOfBenefit", "Goal",
    "Immunization", "Location", "Medication", "MedicationAdministration", "MedicationRequest",
    "MedicationStatement", "Observation", "Organization", "Patient", "Practitioner", "PractitionerRole",
    "Procedure", "Provenance", "Questionnaire", "QuestionnaireResponse", "ServiceRequest", "Specimen",
  ]

  /// The maximum size of a resource in bytes, since a whole resource is parsed in memory. A day of samples
  /// needs 1/100 of it.
  private static let maxResource = 1 << 20
  /// The maximum number of names by which other resources are counted.
  private static let maxSkipped = 100

  private let isOwn: Bool
  /// The model that a person stated for readings whose input states none.
  private let givenModel: String?
  private var devices = FHIRDevices()
  private let options: ExportOptions
  private var zoneOffsets: ZoneOffsets
  private var people = InputPeople(column: "patient")
  private var skipped: Set<String> = []
  private var versions = FHIRVersions()

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    guard head.isJSON else { return nil }
    let isFHIR =
      head.objects.contains { object in
        [object[names[Name.type]], object[names[Name.entryType]]].contains { types.contains($0 ?? "") }
      } || (head.objects.isEmpty && head.value(of: names[Name.type]) == "Bundle" && head.names("entry"))
    return isFHIR ? Recognition(.objects(columns: names)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) throws {
    self.options = options
    zoneOffsets = ZoneOffsets(options.zone)
    try people.pickOnly(options.rows, in: Self.title)
    // A history also has versions of a resource that were entered in error or replaced. They would become
    // readings, so a history is refused.
    if head.value(of: "resourceType") == "Bundle", head.value(of: "type") == "history" {
      throw Failure(
        .badInput,
        "a Bundle of type 'history' has every version of its resources; export the current versions, as a search does"
      )
    }
    isOwn = head.lines.contains { $0.contains(FHIRIdentity.url) }
    givenModel = options.device
  }

  /// True for other programs' exports: a Device, or a second patient, may follow the first Observations. An
  /// Observation of glucoport states its device.
  var benefitsFromSurvey: Bool { !isOwn }

  var decisions: [Decision] { [Decision("unit", "as each Observation says", .read)] }

  mutating func decide() throws { try people.decide(ImportHint(options: options)) }

  var failureAtEnd: Failure? { people.missing }

  var statedPersons: [StatedPerson] {
    Self.references(people.chosen).compactMap { StatedPerson(id: $0, of: Self.id) }
  }

  /// The notations of a reference to a patient. If the patient's id is a UUID, a Bundle refers to it by
  /// `urn:uuid:`, and other documents by `Patient/`. Any other reference has one notation.
  private static func references(_ reference: String?) -> [String] {
    guard let reference else { return [] }
    let forms = ["urn:uuid:", "Patient/"]
    guard let form = forms.first(where: reference.hasPrefix),
      case let id = reference.dropFirst(form.count).lowercased(), Guid.isValid(id)
    else { return [reference] }
    return forms.map { $0 + id }
  }

  mutating func survey(_ row: Row) {
    do {
      _ = try Self.forEachResource(in: row) { resource in
        observe(resource)
        if resource.type.equals("Observation") {
          people.observe(resource.subject.text)
          versions.observe(resource.version)
        }
      }
    } catch {
      // The error is ignored, since the row will be rejected when it is read.
    }
  }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    do {
      if try Self.forEachResource(in: row, { read($0, into: &out) }) { return .data }
    } catch {
      out.reject(row, "the entries of the Bundle cannot be read")
      return .data
    }
    if row[Name.url].isEmpty, row[Name.request].isEmpty, row[Name.response].isEmpty {
      return .unknown("not a FHIR resource")
    }
    out.skip("entry without a resource")
    return .data
  }
}

// MARK: - Resources

extension FHIRFormat {
  /// A resource in a row, with the Bundle's information about it.
  struct Resource {
    let type: Field
    let subject: Field
    let url: Field
    let text: Field
    let row: Row
    let id: Field
    let versionID: Field

    var version: FHIRVersions.Version? { .init(id: id.text, of: subject.text, versionID: versionID.text) }
  }

  /// Calls `body` with the resource of a row, or with each resource of a Bundle in the row.
  ///
  /// - Returns: whether the row is a resource.
  private static func forEachResource(in row: Row, _ body: (Resource) -> Void) throws -> Bool {
    guard let resource = resource(of: row) else { return false }
    guard resource.type.equals("Bundle"), row[Name.resource].isEmpty else {
      body(resource)
      return true
    }
    try NestedObjects.forEach(in: row[Name.entries], columns: names, line: row.line) { entry in
      if let resource = Self.resource(of: entry) { body(resource) }
    }
    return true
  }

  private static func resource(of row: Row) -> Resource? {
    if !row[Name.entryType].isEmpty {
      return Resource(
        type: row[Name.entryType], subject: subject(row, Name.entrySubject, Name.entryIdentifiers),
        url: row[Name.url],
        text: row[Name.resource], row: row, id: row[Name.entryID], versionID: row[Name.entryVersion])
    }
    guard !row[Name.type].isEmpty, let start = row.source.baseAddress else { return nil }
    return Resource(
      type: row[Name.type], subject: subject(row, Name.subject, Name.identifiers), url: .absent,
      text: Field(start: start, count: row.source.count, shape: .composite), row: row,
      id: row[Name.id], versionID: row[Name.version])
  }

  private static func subject(_ row: Row, _ reference: Int, _ identifiers: ClosedRange<Int>) -> Field {
    guard row[reference].isEmpty else { return row[reference] }
    return identifiers.first { !row[$0].isEmpty }.map { row[$0] } ?? row[reference]
  }

  private static func parsed(_ resource: Resource) -> JSONValue? {
    do { return try JSONValue.read(Array(resource.text.bytes)) } catch { return nil }
  }

  /// Records a resource that states a device.
  private mutating func observe(_ resource: Resource) {
    guard resource.type.equals("Device") || resource.type.equals("DeviceMetric"),
      resource.text.count <= Self.maxResource, let value = Self.parsed(resource)
    else { return }
    devices.add(value, url: resource.url.text)
  }

  private mutating func read(_ resource: Resource, into out: inout BatchBuilder) {
    let type = resource.type
    if type.equals("Device") || type.equals("DeviceMetric") {
      observe(resource)
    } else if type.equals("Observation") {
      guard people.reads(resource.subject.text, resource.row, into: &out) else { return }
      guard !versions.replaces(resource.version) else {
        return skip("earlier version of an Observation", into: &out)
      }
      guard resource.text.count <= Self.maxResource else {
        return out.reject(resource.row, "the Observation is longer than 1 MiB")
      }
      guard let value = Self.parsed(resource) else {
        return out.reject(resource.row, "the Observation is not valid JSON")
      }
      read(FHIRObservation(value), resource, into: &out)
    } else if !type.equals("Patient") {
      skip(type.text, into: &out)
    }
  }

  /// Counts a resource that is not imported, by name. The number of names is limited, since a hostile input
  /// could have a different one in each resource.
  private mutating func skip(_ name: String, into out: inout BatchBuilder) {
    let short = String(String.UnicodeScalarView(name.unicodeScalars.prefix(40)))
    if skipped.count < Self.maxSkipped { skipped.insert(short) }
    out.skip(skipped.contains(short) ? short : "other resources")
  }
}

// MARK: - Observations

extension FHIRFormat {
  private mutating func read(
    _ observation: FHIRObservation, _ resource: Resource, into out: inout BatchBuilder
  ) {
    let row = resource.row
    if let name = observation.omission { return skip(name, into: &out) }
    for name in observation.ignored { skip(name, into: &out) }
    if let own = observation.own {
      switch own {
      case .success((var reading, let device)):
        (reading.device, reading.line) = (out.device(device), row.line)
        out.add(reading)
      case .failure(let reason): out.reject(row, reason.text)
      }
      return
    }
    guard let device = addingName(to: devices.device(of: observation.resource)) else {
      return out.reject(row, "its Device is not in the input; --device NAME names one for all such readings")
    }
    switch observation.content {
    case .reading(let meaning, let measurement, let time):
      add(meaning, measurement, at: time, out.device(device), row, into: &out)
    case .series(let meaning, let series):
      for sample in series.samples {
        add(meaning, sample.measurement, at: sample.time, out.device(device), row, into: &out)
      }
      for _ in 0..<series.errors { out.skip("sample without a value") }
      if series.hasInvalid { out.reject(row, "a sample of the series is not a plausible value") }
    case .skipped(let name): skip(name, into: &out)
    case .rejected(let reason): out.reject(row, reason)
    }
  }

  /// A device with vendor and model; nil if neither the input nor a person states a device.
  private func addingName(to device: Device?) -> Device? {
    guard var device = device ?? givenModel.map({ Device(vendor: "", model: $0, format: Self.id) }) else {
      return nil
    }
    if device.vendor.isEmpty { device.vendor = "FHIR" }
    if device.model.isEmpty { device.model = givenModel ?? "FHIR" }
    return device
  }

  /// Adds a reading. An instant identifies it, since servers write an instant with various offsets. A time
  /// without an offset is a shown time.
  private mutating func add(
    _ meaning: FHIRCode.Meaning, _ measurement: Measurement, at time: ShownTime, _ device: DeviceIndex,
    _ row: Row, into out: inout BatchBuilder
  ) {
    let time = zoneOffsets.localised(time)
    let placement = out.placement(of: time)
    guard let offset = time.utcOffset else {
      return out.add(
        Reading(
          device: device, kind: meaning.kind, at: time.deviceTime, placement: placement, measurement,
          marks: meaning.marks, line: row.line), byClock: true)
    }
    out.add(
      Reading(
        device: device, kind: meaning.kind, tick: time.deviceTime.seconds - Int64(offset),
        at: time.deviceTime,
        placement: placement, measurement, marks: meaning.marks, line: row.line))
  }
}

extension FHIRFormat {
  static let page = FormatPage(
    origin: [
      "from a hospital, a clinic or an app that hands out health data as FHIR: a Bundle, or a bulk "
        + "export as NDJSON",
      "from another logbook: glucoport export --format fhir or fhir-ndjson",
    ],
    variants: [
      "R4 and R5: Bundles, NDJSON, a list, or single resources",
      "single values, and series of samples a fixed time apart",
      "mg/dL and mmol/L, by the unit of each Observation",
    ],
    languages: "every language; LOINC codes name the values",
    reads: [
      "glucose in blood as finger sticks, glucose in interstitial fluid as sensor readings, ketones "
        + "in mmol/L",
      "fasting by its code; before or after a meal and bedtime where a note says so as glucoport writes it",
      "manufacturer, model and serial number of the Device, where the input has it",
    ],
    notRead: [
      "glucose that a laboratory measured, all other Observations and resources, which are counted",
      "Observations that were entered in error or cancelled, earlier versions of an Observation, values over more than an hour, computed values, "
        + "and glucose of another specimen or subject, which are counted",
      "other notes, components and the names of persons",
    ])
}

/// The latest versions of Observations that an input has in several versions, such as exports of a server
/// that were joined. The value of an earlier version was wrong, so only the latest version is imported.
///
/// Source: FHIR R4 `meta.versionId`. Many servers count versions from 1. Other servers use texts as version
/// ids. Texts have no order, so they are ignored.
struct FHIRVersions {
  /// A version of an Observation.
  struct Version {
    fileprivate let key: ObservationKey
    fileprivate let number: UInt32

    /// - Parameters:
    ///   - id: the id of the Observation on its server.
    ///   - patient: the reference to the patient. Two servers may use the same id for two patients.
    ///   - versionID: the id of the version. If it is not a number, the result is nil.
    init?(id: String, of patient: String, versionID: String) {
      guard !id.isEmpty, id.utf8.count <= 200, let number = UInt32(versionID) else { return nil }
      (key, self.number) = (ObservationKey(id: id, patient: patient), number)
    }
  }

  fileprivate struct ObservationKey: Hashable {
    let id: String
    let patient: String
  }

  /// The maximum number of Observations whose versions are compared, so that memory does not grow with the
  /// input. On most servers, few Observations have more than one version.
  private static let maxNoted = 50_000

  /// For each Observation with a version after the first one: the latest version.
  private var latest: [ObservationKey: UInt32] = [:]

  /// Notes a version of the input, before Observations are read.
  mutating func observe(_ version: Version?) {
    guard let version, version.number > 1 else { return }
    let known = latest[version.key]
    guard known != nil || latest.count < Self.maxNoted else { return }
    latest[version.key] = max(known ?? 0, version.number)
  }

  /// Whether the input has a later version of the same Observation.
  func replaces(_ version: Version?) -> Bool {
    guard let version, let latest = latest[version.key] else { return false }
    return latest > version.number
  }
}
