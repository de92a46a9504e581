// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Readings as entries. What Nightscout has a place for stands where its programs look for it; all parts of the reading
/// stand beside it in the member `glucoport`, under the names of glucoport-json(5).
enum NightscoutEntry {
  /// What Nightscout's programs write below and above their range.
  private static let clamped = (low: 39.0, high: 401.0)
  /// Smaller sensor values are error codes of receivers, not glucose.
  private static let minGlucose = 13.0
  private static let possible = 0.0...10_000

  /// Why a reading cannot be an entry; nil when it can.
  static func refusal(_ reading: Reading) -> String? {
    milliseconds(reading) > NightscoutTime.least
      ? nil : "Nightscout takes no time before the year 2000"
  }

  /// The `type`: readings that are no one's glucose have types of their own, which no program takes for it.
  static func type(_ reading: Reading) -> String {
    if reading.marks.contains(.controlSolution) { return "control" }
    switch reading.kind {
    case .smbg: return "mbg"
    case .cbg, .scan: return "sgv"
    case .ketone: return "ketone"
    }
  }

  /// The reading's instant.
  static func milliseconds(_ reading: Reading) -> Int64 {
    (reading.deviceTime.seconds - Int64(reading.placement.utcOffset)) * 1000
  }

  /// The members of a document.
  ///
  /// - Parameter shift: milliseconds by which it is moved, where another entry of the type stands at its time: API v1
  ///   takes the two for one.
  static func members(
    _ reading: Reading, _ device: Device, identifier: String, shift: Int64, _ writer: NightscoutWriter
  ) -> [String: JSONValue] {
    let (date, minutes) = (milliseconds(reading) + shift, Int64(reading.placement.utcOffset) / 60)
    let type = type(reading)
    var own = writer.members
    own.merge(parts(reading, device)) { $1 }
    return [
      "identifier": .text(identifier), "app": .text(NightscoutDocument.app), "type": .text(type),
      type: .number(shown(reading)), "date": .number(Double(date)), "utcOffset": .number(Double(minutes)),
      "sysTime": .text(NightscoutTime.utcText(date)),
      "dateString": .text(NightscoutTime.localText(date, minutes: minutes)),
      "device": .text(name(device)), NightscoutDocument.ownName: .object(own),
    ]
  }

  /// Constant for a device: the server lets nobody change it.
  private static func name(_ device: Device) -> String {
    let name = [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    // API v1 would take the sign for HTML, and another name for another device.
    return name.isEmpty ? NightscoutDocument.app : name.replacing("<", with: "‹")
  }

  /// Whole mg/dL, whatever the site shows; a ketone value in mmol/L.
  private static func shown(_ reading: Reading) -> Double {
    switch reading.measurement {
    case .value(let quantity) where reading.kind == .ketone: quantity.number
    case .value(let quantity):
      quantity.converted(to: .milligramsPerDecilitre).number.rounded(.toNearestOrAwayFromZero)
    case .low(let limit, _) where reading.kind == .ketone: limit ?? 0
    case .high(let limit, _) where reading.kind == .ketone: limit ?? 8
    case .low: clamped.low
    case .high: clamped.high
    }
  }

  private static func parts(_ reading: Reading, _ device: Device) -> [String: JSONValue] {
    var parts: [String: JSONValue] = [
      "item": .text("reading"), "kind": .text(reading.kind.name),
      "position_kind": .text(reading.positionKind.name),
      "position": .number(Double(reading.position)), "value_bucket": .number(Double(reading.valueBucket)),
      "occurrence": .number(Double(reading.occurrence)), "device_time": .text(reading.deviceTime.text),
      "utc_offset": .text(DeviceTime.offsetText(reading.placement.utcOffset)),
      "offset_source": .text(reading.placement.source.name), "unit": .text(reading.measurement.unit.name),
      "vendor": NightscoutDocument.sealed(device.vendor), "model": NightscoutDocument.sealed(device.model),
      "serial": NightscoutDocument.sealed(device.serial), "format": .text(device.format),
    ]
    // A Double holds every whole number up to here.
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

// MARK: - From a document

extension NightscoutEntry {
  /// The reading of an entry; nil for what is none: calibration lines, error codes, types of others.
  static func reading(_ document: NightscoutDocument, _ zone: NightscoutZone) -> (Reading, Device)? {
    if let own = document.own, own["position_kind"] != nil { return rebuilt(own) }
    guard let instant = NightscoutTime.instant(document["date"]) ?? stated(document["dateString"]) else {
      return nil
    }
    let type = document["type"]?.text ?? ""
    if let sgv = document["sgv"]?.number, type == "sgv" || type.isEmpty {
      guard sgv >= minGlucose, possible.contains(sgv) else { return nil }
      let isClamped = sgv == clamped.low || sgv == clamped.high
      return foreign(document, .cbg, sgv, isClamped ? .atLimit : [], instant.milliseconds, zone)
    }
    guard type == "mbg" || type.isEmpty, let mbg = document["mbg"]?.number, mbg > 0, possible.contains(mbg)
    else {
      return nil
    }
    return foreign(document, .smbg, mbg, [], instant.milliseconds, zone)
  }

  /// A time that counts only when it says its offset.
  private static func stated(_ value: JSONValue?) -> (milliseconds: Int64, offset: Int32?)? {
    NightscoutTime.instant(value).flatMap { $0.offset == nil ? nil : $0 }
  }

  /// The same identity as an import of the site's export gives it.
  private static func foreign(
    _ document: NightscoutDocument, _ kind: ReadingKind, _ value: Double, _ marks: ReadingMarks,
    _ milliseconds: Int64, _ zone: NightscoutZone
  ) -> (Reading, Device) {
    let measurement = Measurement.value(Quantity(value, .milligramsPerDecilitre))
    return (
      foreign(document, kind, measurement, marks, milliseconds, zone, text: document["dateString"]?.text),
      device(document)
    )
  }

  /// A reading of a foreign document, placed by its instant.
  static func foreign(
    _ document: NightscoutDocument, _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks,
    _ milliseconds: Int64, _ zone: NightscoutZone, text: String?
  ) -> Reading {
    let (time, placement) = zone.shown(milliseconds, document, beside: text)
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, tick: milliseconds, at: time, placement: placement, measurement,
      marks: marks, line: 0)
    reading.occurrenceIsStated = true
    return reading
  }

  /// What took a foreign reading, as far as the document tells.
  static func device(_ document: NightscoutDocument) -> Device {
    var model = document["device"]?.text ?? ""
    while model.utf8.count > 256 { model.removeLast() }
    return Device(
      vendor: "Nightscout", model: model.isEmpty ? "Nightscout" : model.replacing("\0", with: " "),
      format: "nightscout")
  }

  /// The reading that our own member states; nil where somebody damaged it.
  private static func rebuilt(_ own: JSONValue) -> (Reading, Device)? {
    guard let kind = ReadingKind(name: own["kind"]?.text ?? ""),
      let positionKind = PositionKind(name: own["position_kind"]?.text ?? ""),
      let position = own["position"].flatMap({ $0.text.flatMap { Int64($0) } ?? $0.integer }),
      let occurrence = own["occurrence"]?.integer.flatMap({ Int32(exactly: $0) }), occurrence >= 0,
      let time = DeviceTime(text: own["device_time"]?.text ?? ""),
      let offset = NightscoutZone.offset(own["utc_offset"]?.text ?? ""),
      let source = OffsetSource(name: own["offset_source"]?.text ?? ""), let measurement = measurement(own),
      let marks = ReadingMarks(names: (own["marks"]?.text ?? "").split(separator: " "))
    else { return nil }
    var reading = Reading(
      device: DeviceIndex(0), kind: kind, at: time, placement: Placement(utcOffset: offset, source: source),
      measurement, marks: marks, line: 0)
    (reading.positionKind, reading.position, reading.occurrence) = (positionKind, position, occurrence)
    reading.occurrenceIsStated = true
    guard positionKind == .tick || position == time.seconds,
      own["value_bucket"]?.integer == reading.valueBucket
    else {
      return nil
    }
    let texts = ["vendor", "model", "serial", "format"].map { NightscoutDocument.opened(own[$0]) ?? "" }
    guard texts.allSatisfy({ $0.utf8.count <= 256 && !$0.utf8.contains(0) }) else { return nil }
    return (reading, Device(vendor: texts[0], model: texts[1], serial: texts[2], format: texts[3]))
  }

  private static func measurement(_ own: JSONValue) -> Measurement? {
    let unit: GlucoseUnit
    switch own["unit"]?.text {
    case "mg/dL": unit = .milligramsPerDecilitre
    case "mmol/L": unit = .millimolesPerLitre
    default: return nil
    }
    let threshold = own["threshold"]?.number
    switch (own["value"]?.number, own["range"]?.text) {
    case (let value?, nil) where possible.contains(value): return .value(Quantity(value, unit))
    case (nil, "low"?) where threshold.map(possible.contains) ?? true: return .low(below: threshold, unit)
    case (nil, "high"?) where threshold.map(possible.contains) ?? true: return .high(above: threshold, unit)
    default: return nil
    }
  }
}
