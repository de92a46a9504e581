// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Treatments of others: one may hold insulin, food and a blood glucose value, which share its moment. They become what
/// an import of the site's export makes of them, under the same identities.
extension NightscoutTreatment {
  /// Events that are notes; a text beside any other event becomes a note as well.
  private static let announcement = "Announcement"

  /// What a treatment holds.
  struct Foreign {
    var records: [NightscoutRecord] = []
    var reading: (Reading, Device)?
  }

  /// The records and the reading of a treatment that another program wrote.
  static func foreign(_ document: NightscoutDocument, _ zone: NightscoutZone) -> Foreign {
    guard let instant = document.instant else { return Foreign() }
    let event = document["eventType"]?.text?.trimmed ?? ""
    var found: [(RecordKind, [String: FieldValue])] = []
    if let food = food(document) { found.append((.food, food)) }
    if let insulin = event == "Temp Basal" ? basal(document) : insulin(document, event) {
      found.append((.insulin, insulin))
    }
    if event == "Exercise" {
      found.append((.exercise, minutes(document).map { ["minutes": .number($0)] } ?? [:]))
    }
    let text = notes(document)
    if text != nil, found.isEmpty {
      found.append((.note, event == announcement ? ["subtype": .text("announcement")] : [:]))
    }
    if let text, found[0].1["text"] == nil { found[0].1["text"] = .text(text) }
    let (time, placement) = zone.shown(
      instant.milliseconds, document, beside: document["created_at"]?.text ?? document["dateString"]?.text)
    var foreign = Foreign()
    foreign.records = found.map { kind, fields in
      let state = RecordState(
        kind: kind, entryGuid: nil, deviceTime: time, placement: placement, fields: RecordFields(fields),
        isDeleted: false, editedAt: document.modified.map { $0 / 1000 })
      return NightscoutRecord(
        guid: guid(document, kind), state: state, isOwn: false, identifier: document.identifier)
    }
    foreign.reading = glucose(document, event, instant.milliseconds, zone)
    return foreign
  }

  /// The id that an import gives the same row.
  static func guid(_ document: NightscoutDocument, _ kind: RecordKind) -> String {
    Digest.uuid(of: ["record", "nightscout", "\(document.identifier)/\(kind.rawValue)"])
  }

  private static func notes(_ document: NightscoutDocument) -> String? {
    guard let text = document["notes"]?.text else { return nil }
    // Only API v1 replaces signs of HTML, and only API v3 notes who made a document; when, it makes up where nobody noted it.
    let plain = (document["subject"] == nil ? NightscoutDocument.unescaped(text) : text).trimmed
    return plain.isEmpty ? nil : NightscoutDocument.bounded(plain)
  }

  /// A number above 0, up to `most`.
  private static func amount(_ document: NightscoutDocument, _ name: String, most: Double) -> Double? {
    document[name]?.number.flatMap { $0 > 0 && $0 <= most ? $0 : nil }
  }

  private static func minutes(_ document: NightscoutDocument) -> Double? {
    amount(document, "duration", most: 100_000)
      ?? amount(document, "durationInMilliseconds", most: 6e9).map { ($0 / 600).rounded() / 100 }
  }

  private static func food(_ document: NightscoutDocument) -> [String: FieldValue]? {
    var fields: [String: FieldValue] = [:]
    for name in ["carbs", "protein", "fat"] {
      if let grams = amount(document, name, most: 2000) { fields[name] = .number(grams) }
    }
    return fields.isEmpty ? nil : fields
  }

  /// A bolus: `units` at once, and of a combination bolus `extended` units over the minutes.
  private static func insulin(_ document: NightscoutDocument, _ event: String) -> [String: FieldValue]? {
    var fields: [String: FieldValue] = [:]
    if let units = amount(document, "insulin", most: 500) { fields["units"] = .number(units) }
    if event == "Combo Bolus", let minutes = minutes(document), let extended = extended(document, minutes) {
      fields["extended"] = .number(extended)
      fields["minutes"] = .number(minutes)
    }
    if fields.isEmpty { return nil }
    fields["subtype"] = .text(document["isBasalInsulin"] == .flag(true) ? "long" : "rapid")
    return fields
  }

  private static func extended(_ document: NightscoutDocument, _ minutes: Double) -> Double? {
    let units: Double? =
      if let all = amount(document, "enteredinsulin", most: 500),
        let percent = amount(document, "splitExt", most: 100)
      { all * percent / 100 } else { amount(document, "relative", most: 500).map { $0 * minutes / 60 } }
    return units.map { ($0 * 1000).rounded() / 1000 }
  }

  /// A temporary basal rate, in U/h or as a change in percent of the programmed one. Without a duration it ends one.
  private static func basal(_ document: NightscoutDocument) -> [String: FieldValue]? {
    guard let minutes = minutes(document) else { return nil }
    var fields: [String: FieldValue] = ["subtype": .text("basal"), "minutes": .number(minutes)]
    let percent = document["percent"]?.number
    let rate = (document["absolute"] ?? document["rate"])?.number
    if let rate, rate >= 0, rate <= 100 {
      fields["rate"] = .number(rate)
    } else if percent == -100 {
      fields["rate"] = .number(0)
    } else if let percent, percent != 0 {
      let change = (percent > 0 ? "+" : "") + plainNumber(percent) + " %"
      fields["text"] = .text([change, notes(document)].compactMap(\.self).joined(separator: "\n"))
    }
    return fields
  }

  /// A blood glucose value that a person entered. Beside other events it may be a copy of the sensor's.
  private static func glucose(
    _ document: NightscoutDocument, _ event: String, _ milliseconds: Int64, _ zone: NightscoutZone
  ) -> (Reading, Device)? {
    let type = document["glucoseType"]?.text?.lowercased() ?? ""
    let isManual = type == "manual"
    guard event == "BG Check" ? type != "sensor" : isManual || type == "finger",
      let value = amount(document, "glucose", most: 10_000),
      let unit = GlucoseUnit(name: document["units"]?.text ?? "")
    else { return nil }
    let reading = NightscoutEntry.foreign(
      document, .smbg, .value(Quantity(value, unit)), isManual ? .manual : [], milliseconds, zone,
      text: document["created_at"]?.text ?? document["dateString"]?.text)
    return (reading, NightscoutEntry.device(document))
  }
}

extension String {
  fileprivate var trimmed: String {
    let scalars = unicodeScalars.drop { $0.properties.isWhitespace }.reversed().drop {
      $0.properties.isWhitespace
    }
    return String(String.UnicodeScalarView(scalars.reversed()))
  }
}
