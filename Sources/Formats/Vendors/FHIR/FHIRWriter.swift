// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes readings as Observations of FHIR R4, which R5 can read as well. The Patient comes first, and each
/// Device before its first reading.
///
/// Every id is a hash of what it identifies, so that a second export has the same ids.
package struct FHIRWriter: ReadingDocumentWriter {
  /// The arrangement of the resources.
  package enum Form: Sendable {
    /// One Bundle of the type `collection`.
    case bundle
    /// One resource in each line, as in Bulk Data.
    case ndjson
  }

  /// The guide whose profiles are stated in `meta` of conforming Observations.
  package enum Profile: String, CaseIterable, Sendable {
    /// The profiles of HL7's Continuous Glucose Monitoring, for sensor readings.
    case cgm
    /// gematik's Health Device Data Transfer, for readings of meters. Its profile for sensors requires
    /// series.
    case hddt
  }

  private static let uuidSystem = "urn:ietf:rfc:3986"
  private static let terminology = "http://terminology.hl7.org/CodeSystem"

  private let form: Form
  private let profile: Profile?
  private let patientName: String?
  private let patient: String
  /// The ids of the devices written so far, by the parts that identify them.
  private var devices: [String: String] = [:]

  /// A writer of one export.
  ///
  /// - Parameters:
  ///   - logbook: texts that distinguish the logbook from those of other people. The Patient's id is a hash
  ///     of these texts. So the id is the same with and without the name, and two people of one name have two
  ///     ids.
  ///   - patientName: the name to write; nil for a Patient without a name.
  package init(_ form: Form, logbook: [String] = [""], profile: Profile? = nil, patientName: String? = nil) {
    self.form = form
    self.profile = profile
    self.patientName = patientName
    patient = Digest.uuid(of: ["fhir-patient"] + logbook)
  }

  /// The start of the Bundle, and the Patient.
  package var header: String {
    let name = patientName.map { #","name":[{"text":\#(jsonText($0))}]"# } ?? ""
    let first = resource("Patient", patient, #""active":true\#(name)"#)
    return form == .bundle
      ? #"{"resourceType":"Bundle","type":"collection","entry":["# + "\n" + first : first + "\n"
  }

  /// The end of the Bundle.
  package var footer: String { form == .bundle ? "\n]}\n" : "" }

  /// The reason why a reading is left out; nil if it is written.
  package static func omission(of reading: GlucoportReading) -> ReadingOmission? {
    reading.marks.contains(.controlSolution) ? .controlSolution : nil
  }

  /// Appends a reading. If its device was not written yet, the device is appended before it.
  package mutating func append(_ item: GlucoportReading, to out: inout [UInt8]) {
    let device = device(item.device, to: &out)
    let identity = ReadingIdentity(
      device: item.device, kind: item.kind, positionKind: item.positionKind, position: item.position,
      valueBucket: item.valueBucket, occurrence: item.occurrence)
    let uuid = identity.uuid
    append(resource("Observation", uuid, members(item, uuid, device: device)), to: &out)
  }
}

// MARK: - Resources

extension FHIRWriter {
  /// The id of a device. If the device was not written yet, its resource is appended.
  private mutating func device(_ device: Device, to out: inout [UInt8]) -> String {
    let key = ReadingIdentity.text(of: device)
    if let known = devices[key] { return known }
    let uuid = Digest.uuid(of: ["device", key])
    devices[key] = uuid
    let name = [device.vendor, device.model].filter { !$0.isEmpty }.joined(separator: " ")
    var members = [Self.identifier(uuid)]
    if !device.vendor.isEmpty { members.append(#""manufacturer":\#(jsonText(device.vendor))"#) }
    if !device.serial.isEmpty { members.append(#""serialNumber":\#(jsonText(device.serial))"#) }
    members.append(
      #""deviceName":[{"name":\#(jsonText(name.isEmpty ? device.format : name)),"type":"user-friendly-name"}]"#
    )
    if !device.model.isEmpty { members.append(#""modelNumber":\#(jsonText(device.model))"#) }
    members.append(#""patient":{"reference":"\#(reference("Patient", patient))"}"#)
    append(resource("Device", uuid, members.joined(separator: ",")), to: &out)
    return uuid
  }

  private func members(_ reading: GlucoportReading, _ uuid: String, device: String) -> String {
    var members: [String] = []
    if let url = profileURL(reading) { members.append(#""meta":{"profile":["\#(url)"]}"#) }
    members += [
      #""extension":[\#(FHIRIdentity.json(reading))]"#, Self.identifier(uuid),
      #""status":"\#(reading.isWithdrawn ? "entered-in-error" : "final")""#,
      #""category":[{"coding":[{"system":"\#(Self.terminology)/observation-category","code":"laboratory"}]}]"#,
      #""code":\#(Self.code(reading))"#, #""subject":{"reference":"\#(reference("Patient", patient))"}"#,
      #""effectiveDateTime":"\#(reading.deviceTime.zonedText(reading.placement))""#,
    ]
    members += Self.value(reading.measurement)
    let notes = FHIRCode.noted.filter { reading.marks.contains($0.mark) }.map { #"{"text":"\#($0.text)"}"# }
    if !notes.isEmpty { members.append(#""note":[\#(notes.joined(separator: ","))]"#) }
    members.append(#""device":{"reference":"\#(reference("Device", device))"}"#)
    return members.joined(separator: ",")
  }

  /// The profile to which a reading's Observation conforms; nil if it conforms to none.
  private func profileURL(_ reading: GlucoportReading) -> String? {
    switch (profile, reading.kind) {
    case (.cgm?, .cbg), (.cgm?, .scan):
      let isMass = reading.measurement.unit == .milligramsPerDecilitre
      return "http://hl7.org/fhir/uv/cgm/StructureDefinition/cgm-sensor-reading-"
        + (isMass ? "mass-per-volume" : "moles-per-volume")
    case (.hddt?, .smbg):
      return "https://gematik.de/fhir/hddt/StructureDefinition/hddt-blood-glucose-measurement"
    default: return nil
    }
  }

  private static func identifier(_ uuid: String) -> String {
    #""identifier":[{"system":"\#(uuidSystem)","value":"urn:uuid:\#(uuid)"}]"#
  }

  private static func code(_ reading: GlucoportReading) -> String {
    guard let coding = FHIRCode.coding(reading.kind, reading.measurement.unit) else {
      return #"{"text":"Ketones in blood"}"#
    }
    return
      #"{"coding":[{"system":"http://loinc.org","code":"\#(coding.code)","display":"\#(coding.display)"}]}"#
  }

  /// The member with the value. LO and HI are written as a comparison with the limit. If the limit is
  /// unknown, the member with the reason for a missing value is written.
  private static func value(_ measurement: Measurement) -> [String] {
    switch measurement {
    case .value(let quantity): [#""valueQuantity":\#(Self.quantity(quantity.number, quantity.unit))"#]
    case .low(let limit?, let unit): [#""valueQuantity":\#(Self.quantity(limit, unit, comparator: "<"))"#]
    case .high(let limit?, let unit): [#""valueQuantity":\#(Self.quantity(limit, unit, comparator: ">"))"#]
    case .low(nil, _): absent("LO", "<")
    case .high(nil, _): absent("HI", ">")
    }
  }

  /// A number as a FHIR Quantity. HL7's profiles require the text of the unit with a lower-case l, while its
  /// code is UCUM's.
  private static func quantity(_ number: Double, _ unit: GlucoseUnit, comparator: String? = nil) -> String {
    let sign = comparator.map { #","comparator":"\#($0)""# } ?? ""
    return #"{"value":\#(plainNumber(number))\#(sign),"unit":"\#(unit.name.lowercased())","#
      + #""system":"http://unitsofmeasure.org","code":"\#(unit.name)"}"#
  }

  private static func absent(_ text: String, _ sign: String) -> [String] {
    let interpretation = "\(terminology)/v3-ObservationInterpretation"
    return [
      #""dataAbsentReason":{"coding":[{"system":"\#(terminology)/data-absent-reason","code":"unknown"}],"#
        + #""text":"\#(text)"}"#,
      #""interpretation":[{"coding":[{"system":"\#(interpretation)","code":"\#(sign)"}],"text":"\#(text)"}]"#,
    ]
  }
}

// MARK: - Forms

extension FHIRWriter {
  /// A resource as an entry of the Bundle or as a line. In a Bundle, `fullUrl` identifies the resource.
  private func resource(_ type: String, _ uuid: String, _ members: String) -> String {
    switch form {
    case .bundle: #"{"fullUrl":"urn:uuid:\#(uuid)","resource":{"resourceType":"\#(type)",\#(members)}}"#
    case .ndjson: #"{"resourceType":"\#(type)","id":"\#(uuid)",\#(members)}"#
    }
  }

  private func reference(_ type: String, _ uuid: String) -> String {
    form == .bundle ? "urn:uuid:\(uuid)" : "\(type)/\(uuid)"
  }

  /// Appends a resource with its separator; the Patient is always first.
  private func append(_ resource: String, to out: inout [UInt8]) {
    if form == .bundle { out.append(contentsOf: ",\n".utf8) }
    out.append(contentsOf: resource.utf8)
    if form == .ndjson { out.append(0x0A) }
  }
}
