// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Converts readings to entries of Nightscout and back. The usual members have the values that Nightscout's
/// programs read. The member `glucoport` has all parts of the reading, with the names of glucoport-json(5).
package enum NightscoutEntry {
  /// The value in mg/dL that Nightscout's programs write for a value below the sensor's range (LO).
  @usableFromInline static var clampedLow: Double { 39 }
  /// The value in mg/dL that Nightscout's programs write for a value above the sensor's range (HI).
  @usableFromInline static var clampedHigh: Double { 401 }

  /// The reason why a reading cannot be written as an entry; nil if it can be written.
  package static func refusal(_ reading: Reading) -> String? {
    milliseconds(reading) > NightscoutTime.minMilliseconds
      ? nil : "Nightscout accepts no time before the year 2000"
  }

  /// The member `type`. Readings that are not a person's glucose have special types, which programs do not
  /// treat as glucose.
  package static func type(_ reading: Reading) -> String {
    if reading.marks.contains(.controlSolution) { return "control" }
    switch reading.kind {
    case .smbg: return "mbg"
    case .cbg, .scan: return "sgv"
    case .ketone: return "ketone"
    }
  }

  /// The instant of a reading in milliseconds since 1970, as the member `date`.
  package static func milliseconds(_ reading: Reading) -> Int64 {
    (reading.deviceTime.seconds - Int64(reading.placement.utcOffset)) * 1000
  }

  /// The members of a reading's document.
  ///
  /// - Parameters:
  ///   - shift: the number of milliseconds by which the time is moved if another entry of the same type has
  ///     this time. API v1 would treat both entries as the same.
  ///   - writer: the node and the run that write the document; nil for an export.
  package static func members(
    _ reading: Reading, _ device: Device, identifier: String, shift: Int64, _ writer: NightscoutWriter?
  ) -> [String: JSONValue] {
    let (date, minutes) = (milliseconds(reading) + shift, Int64(reading.placement.utcOffset) / 60)
    let type = type(reading)
    var own = writer?.members ?? [:]
    own.merge(parts(reading, device)) { $1 }
    return [
      "identifier": .text(identifier), "app": .text(NightscoutDocument.app), "type": .text(type),
      type: .number(shown(reading)), "date": .number(Double(date)), "utcOffset": .number(Double(minutes)),
      "sysTime": .text(NightscoutTime.utcText(date)),
      "dateString": .text(NightscoutTime.localText(date, minutes: minutes)),
      "device": .text(name(device)), NightscoutDocument.ownName: .object(own),
    ]
  }

  /// The member `device`. The server does not allow changing this member, so it depends only on the device.
  private static func name(_ device: Device) -> String {
    let name = [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    // API v1 would escape `<` as HTML. The changed name would count as another device.
    return name.isEmpty ? NightscoutDocument.app : name.replacing("<", with: "‹")
  }

  /// The value for `sgv` or `mbg` in mg/dL, whatever unit the site shows. Ketones are in mmol/L.
  private static func shown(_ reading: Reading) -> Double {
    switch reading.measurement {
    case .value(let quantity) where reading.kind == .ketone: quantity.number
    case .value(let quantity):
      quantity.converted(to: .milligramsPerDecilitre).number.rounded(.toNearestOrAwayFromZero)
    case .low(let limit, _) where reading.kind == .ketone: limit ?? 0
    case .high(let limit, _) where reading.kind == .ketone: limit ?? 8
    case .low: clampedLow
    case .high: clampedHigh
    }
  }

  private static func parts(_ reading: Reading, _ device: Device) -> [String: JSONValue] {
    let reading = reading.withoutZone
    var parts: [String: JSONValue] = [
      "item": .text("reading"), "kind": .text(reading.kind.name),
      "position_kind": .text(reading.positionKind.name),
      "position": .number(Double(reading.position)), "value_bucket": .number(Double(reading.valueBucket)),
      "occurrence": .number(Double(reading.occurrence)), "device_time": .text(reading.deviceTime.text),
      "utc_offset": .text(DeviceTime.offsetText(reading.placement.utcOffset)),
      "offset_source": .text(reading.placement.source.name), "unit": .text(reading.measurement.unit.name),
      "vendor": NightscoutText.encoded(device.vendor), "model": NightscoutText.encoded(device.model),
      "serial": NightscoutText.encoded(device.serial), "format": .text(device.format),
    ]
    // A Double can represent every integer up to this limit. Larger positions are written as text.
    if reading.position.magnitude > 1 << 53 { parts["position"] = .text(String(reading.position)) }
    if !reading.marks.isEmpty { parts["marks"] = .text(reading.marks.names.joined(separator: " ")) }
    switch reading.measurement {
    case .value(let quantity): parts["value"] = .number(quantity.number)
    case .low(let limit, _), .high(let limit, _):
      parts["range"] = if case .low = reading.measurement { .text("low") } else { .text("high") }
      if let limit { parts["threshold"] = .number(limit) }
    }
    return parts
  }
}

/// Decides whether a document contains a reading, and finds its kind.
extension NightscoutEntry {
  /// What a document contains.
  package enum DocumentContent {
    case reading(ReadingKind, Measurement, ReadingMarks, Instant)
    /// Data of a kind that glucoport does not store. The text names the kind.
    case skipped(String)
    /// A reading that is invalid, for this reason.
    case rejected(String)
    case treatment
    case unknown
  }

  /// The content of a document.
  @inlinable package static func content(
    of document: some NightscoutFields, _ units: inout NightscoutUnits
  ) -> DocumentContent {
    let type = document[.type]
    let sgv = document[.sgv]
    if !sgv.isEmpty, type.equals("sgv") || type.isEmpty { return sensor(document, sgv, &units) }
    return isTreatment(document, type) ? .treatment : other(document, type, &units)
  }

  /// Whether a document without a sensor's value is a treatment. A document of the type `mbg` is an entry,
  /// whatever other members its program wrote. No treatment has that type.
  @inlinable package static func isTreatment<Document: NightscoutFields>(
    _ document: Document, _ type: Document.Value
  ) -> Bool {
    if type.equals("mbg") { return false }
    return !document[.eventType].isEmpty || type.isEmpty && !document[.createdAt].isEmpty
  }

  @inlinable static func sensor<Document: NightscoutFields>(
    _ document: Document, _ sgv: Document.Value, _ units: inout NightscoutUnits
  ) -> DocumentContent {
    let number = sgv.jsonNumber
    if let number, units.isErrorCode(number, unit: document[.units]) { return .skipped("sensor error code") }
    let isClamped = number == clampedLow || number == clampedHigh
    return reading(
      .cbg, units.check(sgv, number, unit: document[.units]), isClamped ? .atLimit : [], document)
  }

  /// The content of an entry that is not a sensor's value.
  @usableFromInline static func other<Document: NightscoutFields>(
    _ document: Document, _ type: Document.Value, _ units: inout NightscoutUnits
  ) -> DocumentContent {
    let mbg = document[.mbg]
    if type.equals("mbg") || (type.isEmpty && !mbg.isEmpty) {
      let number = mbg.jsonNumber
      if mbg.isEmpty || number == 0 { return .skipped("entry without a value") }
      return reading(.smbg, units.check(mbg, number, unit: document[.units]), [], document)
    }
    if type.equals("Manual") || type.equals("manual") { return typed(document, &units) }
    if type.equals("cal") { return .skipped("calibration line") }
    guard type.isEmpty || type.equals("sgv") else { return .skipped(String(type.plainText.prefix(40))) }
    return type.isEmpty && document[.date].isEmpty ? .unknown : .skipped("entry without a value")
  }

  /// A finger stick that a person typed into Trio or iAPS. These apps write it among the entries of the
  /// sensor.
  private static func typed<Document: NightscoutFields>(
    _ document: Document, _ units: inout NightscoutUnits
  ) -> DocumentContent {
    for member in [NightscoutMember.mbg, .sgv, .glucose] where !document[member].isEmpty {
      let value = document[member]
      return reading(
        .smbg, units.check(value, value.jsonNumber, unit: document[.units]), .manual, document)
    }
    return .skipped("entry without a value")
  }

  @inlinable static func reading(
    _ kind: ReadingKind, _ cell: CellValue, _ marks: ReadingMarks, _ document: some NightscoutFields
  ) -> DocumentContent {
    switch cell {
    case .measurement(let measurement):
      guard let instant = document.entryInstant else { return .rejected(NightscoutRefusal.noDate) }
      return .reading(kind, measurement, marks, instant)
    case .empty: return .skipped("entry without a value")
    case .rejected(let reason): return .rejected(reason)
    }
  }

  /// The reading in a document of another program. Its instant identifies it, so that it is the same reading
  /// in every zone. If the instant is unknown, the shown time identifies it.
  @inlinable package static func reading(
    _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks, at instant: Instant,
    _ shown: ShownTime, _ placement: Placement, device: DeviceIndex, line: Int64
  ) -> Reading {
    instant.isWallClock
      ? Reading(
        device: device, kind: kind, at: shown.deviceTime, placement: placement, measurement, marks: marks,
        line: line)
      : Reading(
        device: device, kind: kind, tick: instant.milliseconds, at: shown.deviceTime, placement: placement,
        measurement, marks: marks, line: line)
  }
}

/// Converts documents of a site to readings.
extension NightscoutEntry {
  /// The reading in a document of the site's `entries`, with its device; nil for `cal` documents, error codes
  /// and unknown types.
  package static func reading(_ document: NightscoutDocument, _ zone: NightscoutZone) -> (Reading, Device)? {
    contents(document, zone).reading
  }

  /// The contents of an entry.
  static func contents(_ document: NightscoutDocument, _ zone: NightscoutZone) -> NightscoutContents {
    if let own = document.own, own["position_kind"] != nil {
      return rebuilt(own).map { NightscoutContents(reading: $0) }
        ?? NightscoutContents(rejections: [NightscoutRefusal.damaged])
    }
    var units = NightscoutUnits.site
    switch content(of: document, &units) {
    case .reading(let kind, let measurement, let marks, let instant):
      let reading = reading(kind, measurement, marks, at: instant, document, zone)
      return NightscoutContents(reading: (reading, device(document)))
    case .rejected(let reason): return NightscoutContents(rejections: [reason])
    case .skipped, .treatment, .unknown: return NightscoutContents()
    }
  }

  /// The reading in a document of another program.
  static func reading(
    _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks, at instant: Instant,
    _ document: NightscoutDocument, _ zone: NightscoutZone
  ) -> Reading {
    let shown = document.shown(instant, zone.offset)
    var reading = reading(
      kind, measurement, marks, at: instant, shown, zone.placement(of: shown), device: DeviceIndex(0), line: 0
    )
    reading.occurrenceIsStated = !instant.isWallClock
    return reading
  }

  /// The device that a document of another program states; otherwise the default device.
  package static func device(_ document: some NightscoutFields) -> Device {
    var model = NightscoutText.trimmed(document[.device].plainText).replacing("\0", with: " ")
    while model.utf8.count > maxModel { model.removeLast() }
    return Device(vendor: vendor, model: model.isEmpty ? vendor : model, format: "nightscout")
  }

  /// The vendor of all devices on a site; also the model if a document states no device.
  package static let vendor = "Nightscout"
  /// The maximum length of a model in bytes.
  package static let maxModel = 256
}

// MARK: - Documents of glucoport

extension NightscoutEntry {
  /// The reading in the member `glucoport`; nil if the member is damaged. The FHIR format also uses this
  /// function: it first converts the parts of an observation to such a member.
  package static func rebuilt(_ own: JSONValue) -> (Reading, Device)? {
    guard let kind = ReadingKind(name: own["kind"]?.text ?? ""),
      let positionKind = PositionKind(name: own["position_kind"]?.text ?? ""),
      let position = own["position"].flatMap({ $0.text.flatMap { Int64($0) } ?? $0.integer }),
      Reading.positions.contains(position),
      let occurrence = own["occurrence"]?.integer.flatMap({ Int32(exactly: $0) }), occurrence >= 0,
      let time = DeviceTime(text: own["device_time"]?.text ?? ""),
      let offset = NightscoutTime.offset(own["utc_offset"]?.text ?? ""),
      let source = OffsetSource(name: own["offset_source"]?.text ?? ""), let measurement = measurement(own),
      let marks = ReadingMarks(names: (own["marks"]?.text ?? "").split(separator: " "))
    else { return nil }
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, at: time, placement: Placement(utcOffset: offset, source: source),
      measurement, marks: marks, line: 0)
    (reading.positionKind, reading.position, reading.occurrence) = (positionKind, position, occurrence)
    reading.occurrenceIsStated = true
    guard positionKind == .tick || (position == time.seconds && source != .instant),
      own["value_bucket"]?.integer == reading.valueBucket
    else {
      return nil
    }
    let texts = ["vendor", "model", "serial", "format"].map { NightscoutText.decoded(own[$0]) ?? "" }
    guard texts.allSatisfy({ $0.utf8.count <= maxModel && !$0.utf8.contains(0) }) else { return nil }
    return (reading, Device(vendor: texts[0], model: texts[1], serial: texts[2], format: texts[3]))
  }

  private static func measurement(_ own: JSONValue) -> Measurement? {
    guard let unit = GlucoseUnit.allCases.first(where: { $0.name == own["unit"]?.text }) else { return nil }
    let possible = PlausibleAmounts.stated
    let threshold = own["threshold"]?.number
    guard threshold.map(possible.contains) ?? true else { return nil }
    switch (own["value"]?.number, own["range"]?.text) {
    // A ketone value can be 0, but a glucose value must be above 0.
    case (let value?, nil)
    where possible.contains(value) && (value > 0 || own["kind"] == .text(ReadingKind.ketone.name)):
      return .value(Quantity(value, unit))
    case (nil, "low"?): return .low(below: threshold, unit)
    case (nil, "high"?): return .high(above: threshold, unit)
    default: return nil
    }
  }
}
