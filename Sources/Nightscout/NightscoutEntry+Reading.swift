// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Converts documents of a site to readings.
extension NightscoutEntry {
  /// The reading and its device; nil for calibration lines, error codes and unknown types.
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

  /// The reading of another program's document.
  static func reading(
    _ kind: ReadingKind, _ measurement: Measurement, _ marks: ReadingMarks, at instant: Instant,
    _ document: NightscoutDocument, _ zone: NightscoutZone
  ) -> Reading {
    let shown = document.shown(instant, zone.offset)
    var reading = reading(
      kind, measurement, marks, at: instant, shown, zone.place(shown), device: DeviceIndex(0), line: 0)
    reading.occurrenceIsStated = !instant.isWallClock
    return reading
  }

  /// The device in another program's document, if it is stated.
  package static func device(_ document: some NightscoutFields) -> Device {
    var model = NightscoutText.trimmed(document[.device].plainText).replacing("\0", with: " ")
    while model.utf8.count > maxModel { model.removeLast() }
    return Device(vendor: vendor, model: model.isEmpty ? vendor : model, format: "nightscout")
  }

  /// The vendor of devices without a stated one; also the model.
  package static let vendor = "Nightscout"
  /// The longest model in bytes.
  package static let maxModel = 256
}

// MARK: - Our own

extension NightscoutEntry {
  /// The reading in our own member, or in another format's equivalent; nil if it is damaged.
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
    guard positionKind == .tick || position == time.seconds,
      own["value_bucket"]?.integer == reading.valueBucket
    else {
      return nil
    }
    let texts = ["vendor", "model", "serial", "format"].map { NightscoutText.opened(own[$0]) ?? "" }
    guard texts.allSatisfy({ $0.utf8.count <= maxModel && !$0.utf8.contains(0) }) else { return nil }
    return (reading, Device(vendor: texts[0], model: texts[1], serial: texts[2], format: texts[3]))
  }

  private static func measurement(_ own: JSONValue) -> Measurement? {
    guard let unit = GlucoseUnit.allCases.first(where: { $0.name == own["unit"]?.text }) else { return nil }
    let possible = PlausibleAmounts.stated
    let threshold = own["threshold"]?.number
    guard threshold.map(possible.contains) ?? true else { return nil }
    switch (own["value"]?.number, own["range"]?.text) {
    // Ketone may be missing, but glucose is always present.
    case (let value?, nil)
    where possible.contains(value) && (value > 0 || own["kind"] == .text(ReadingKind.ketone.name)):
      return .value(Quantity(value, unit))
    case (nil, "low"?): return .low(below: threshold, unit)
    case (nil, "high"?): return .high(above: threshold, unit)
    default: return nil
    }
  }
}
