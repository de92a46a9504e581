// SPDX-License-Identifier: Apache-2.0

/// What API v3 requires of a document, which fields it adds, and how clients see the document.
enum NightscoutShape {
  private static let immutable = [
    "identifier", "date", "utcOffset", "eventType", "device", "app", "srvCreated", "subject", "srvModified",
    "modifiedBy", "isValid",
  ]

  /// The document of a POST or PUT with the server's defaults. Nothing is refused yet.
  static func filled(_ sent: NightscoutDocument, serverOffset: Int) -> NightscoutDocument {
    var document = sent
    if let time = instant(sent["date"]) ?? instant(sent["created_at"]) {
      document["date"] = DocumentValue(time.milliseconds)
      document["created_at"] = .string(NightscoutTime.iso(time.milliseconds))
      if sent["utcOffset"] == nil {
        document["utcOffset"] = DocumentValue(Int64(time.offset ?? serverOffset))
      }
    }
    if !JavaScriptNumber.isTruthy(sent["identifier"]) {
      document["identifier"] = .string(defaultIdentifier(document))
    }
    return document
  }

  /// Ends the call if a required field is missing or has a wrong type.
  static func check(_ document: NightscoutDocument, isPatch: Bool = false) throws(NightscoutAnswer) {
    if !isPatch || document["date"] != nil {
      guard let date = document["date"]?.number, date > Double(NightscoutV3.firstInstant) else {
        throw .error(400, "Bad or missing date field")
      }
    }
    if !isPatch || document["utcOffset"] != nil {
      guard let offset = document["utcOffset"]?.number, abs(offset) <= 1440 else {
        throw .error(400, "Bad or missing utcOffset field")
      }
    }
    if !isPatch || document["app"] != nil {
      guard isFilled(document["app"]) else { throw .error(400, "Bad or missing app field") }
    }
  }

  static func checkIdentifier(_ document: NightscoutDocument) throws(NightscoutAnswer) {
    guard isFilled(document["identifier"]) else { throw .error(400, "Bad or missing identifier field") }
  }

  /// Ends the call if API v3 does not permit this change of the stored document.
  static func checkChange(
    of stored: NightscoutDocument, to sent: NightscoutDocument, mayIdentify: Bool = false
  ) throws(NightscoutAnswer) {
    try checkReadOnly(stored)
    if stored["isValid"] == false { return }
    for field in immutable where !(mayIdentify && field == "identifier") {
      if let value = sent[field], value != stored[field] {
        throw .error(400, "Field \(field) cannot be modified by the client")
      }
    }
  }

  static func checkReadOnly(_ stored: NightscoutDocument) throws(NightscoutAnswer) {
    guard !["isReadOnly", "readOnly", "readonly"].contains(where: { stored[$0] == true }) else {
      throw .error(422, "Trying to modify read-only document")
    }
  }

  /// A stored document as API v3 shows it. If it has no identifier, its database key becomes the identifier.
  static func identified(_ stored: NightscoutDocument) -> NightscoutDocument {
    var document = stored
    document["_id"] = nil
    if !JavaScriptNumber.isTruthy(stored["identifier"]) {
      document["identifier"] = stored["_id"]?.text.map(DocumentValue.string)
    }
    return document
  }

  /// The document with its stored time of change, or with the time of its event if none is stored.
  static func dated(_ document: NightscoutDocument, in collection: String) -> NightscoutDocument {
    var dated = document
    if !JavaScriptNumber.isTruthy(document["srvModified"]) {
      dated["srvModified"] = eventTime(document, in: collection).map { DocumentValue($0) }
    }
    if let modified = dated["srvModified"], !JavaScriptNumber.isTruthy(document["srvCreated"]) {
      dated["srvCreated"] = modified
    }
    return dated
  }

  /// The time of a document's event, from the field that its collection uses.
  static func eventTime(_ document: NightscoutDocument, in collection: String) -> Int64? {
    switch collection {
    case "settings": nil
    case "entries": instant(document["date"])?.milliseconds
    default: instant(document["created_at"])?.milliseconds
    }
  }

  /// The instant of a value in milliseconds, in seconds or as text; nil for an instant before the year 2000.
  static func instant(_ value: DocumentValue?) -> NightscoutTime.Parsed? {
    switch value {
    case .number(let number)?: instant(number)
    case .string(let text)?:
      if let number = JavaScriptNumber.whole(text) {
        instant(number)
      } else {
        NightscoutTime.parse(text).flatMap { $0.milliseconds < NightscoutV3.firstInstant ? nil : zoned($0) }
      }
    case .array(let items)?: items.lazy.compactMap(instant).first
    default: nil
    }
  }

  /// The time with the offset 0 if the text has no zone, since such a text is in UTC.
  private static func zoned(_ time: NightscoutTime.Parsed) -> NightscoutTime.Parsed {
    NightscoutTime.Parsed(milliseconds: time.milliseconds, offset: time.offset ?? 0)
  }

  private static func instant(_ number: Double) -> NightscoutTime.Parsed? {
    let first = Double(NightscoutV3.firstInstant)
    let milliseconds = (number < first ? number * 1000 : number).rounded(.towardZero)
    guard milliseconds >= first, milliseconds <= 8.64e15 else { return nil }
    return NightscoutTime.Parsed(milliseconds: Int64(milliseconds), offset: nil)
  }

  private static func isFilled(_ value: DocumentValue?) -> Bool {
    guard case .string(let text)? = value else { return false }
    return !text.allSatisfy(\.isWhitespace)
  }

  /// The identifier that the server makes. The type of an entry is not part of it.
  private static func defaultIdentifier(_ document: NightscoutDocument) -> String {
    let parts = ["device", "date"].map { document[$0].map { $0.text ?? $0.json } ?? "undefined" }
    let event = document["eventType"]?.text.map { $0.isEmpty ? "" : "_" + $0 } ?? ""
    return NightscoutDigest.identifier(parts.joined(separator: "_") + event)
  }
}
