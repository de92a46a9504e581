// SPDX-License-Identifier: Apache-2.0

/// What v3 asks of a document, makes of it, and shows of it.
enum NightscoutShape {
  private static let immutable = [
    "identifier", "date", "utcOffset", "eventType", "device", "app", "srvCreated", "subject", "srvModified",
    "modifiedBy", "isValid",
  ]

  /// The document that a POST or PUT asks for, with what the server fills in.
  static func filled(
    _ sent: NightscoutDocument, serverOffset: Int
  ) throws(NightscoutAnswer) -> NightscoutDocument {
    var document = sent
    let time = instant(sent["date"] ?? sent["created_at"], serverOffset)
    guard let time, time.milliseconds > NightscoutV3.firstInstant else {
      throw .error(400, "Bad or missing date field")
    }
    document["date"] = DocumentValue(time.milliseconds)
    document["created_at"] = .string(NightscoutTime.iso(time.milliseconds))
    if sent["utcOffset"] == nil {
      document["utcOffset"] = DocumentValue(Int64(time.offset ?? serverOffset))
    }
    guard let offset = document["utcOffset"]?.number, abs(offset) <= 1440 else {
      throw .error(400, "Bad or missing utcOffset field")
    }
    guard isFilled(sent["app"]) else { throw .error(400, "Bad or missing app field") }
    guard sent["identifier"] == nil || isFilled(sent["identifier"]) else {
      throw .error(400, "Bad or missing identifier field")
    }
    if sent["identifier"] == nil { document["identifier"] = .string(defaultIdentifier(document)) }
    document["_id"] = nil
    return document
  }

  /// Ends a change that the stored document does not allow.
  static func checkChange(
    of stored: NightscoutDocument, to sent: NightscoutDocument, mayIdentify: Bool = false
  ) throws(NightscoutAnswer) {
    try checkReadOnly(stored)
    if stored["isValid"] == false { return }
    for field in immutable where !(mayIdentify && field == "identifier") {
      let old = field == "identifier" ? stored[field] ?? stored["_id"] : stored[field]
      if let value = sent[field], value != old {
        throw .error(400, "Field \(field) cannot be modified by the client")
      }
    }
  }

  static func checkReadOnly(_ stored: NightscoutDocument) throws(NightscoutAnswer) {
    guard !["isReadOnly", "readOnly", "readonly"].contains(where: { stored[$0] == true }) else {
      throw .error(422, "Trying to modify read-only document")
    }
  }

  /// How v3 shows a document: by its identifier, and with a time of change that is made up where there is none.
  static func shown(_ stored: NightscoutDocument) -> NightscoutDocument {
    var shown = stored
    shown["_id"] = nil
    shown["identifier"] = stored["identifier"] ?? stored["_id"]
    if stored["srvModified"] == nil { shown["srvModified"] = eventTime(stored).map { DocumentValue($0) } }
    return shown
  }

  /// When what the document tells of happened.
  static func eventTime(_ document: NightscoutDocument) -> Int64? {
    document["date"]?.whole ?? document["created_at"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
  }

  /// What the server derives from the length of a treatment in minutes.
  static func addEnd(_ document: inout NightscoutDocument) {
    guard let minutes = document["duration"]?.number, let start = eventTime(document) else { return }
    document["durationInMilliseconds"] = .number(minutes * 60_000)
    document["endmills"] = .number(Double(start) + minutes * 60_000)
  }

  private static func instant(_ value: DocumentValue?, _ serverOffset: Int) -> NightscoutTime.Parsed? {
    switch value {
    case .number(let number)?:
      let isSeconds = number < Double(NightscoutV3.firstInstant)
      return Int64(exactly: (isSeconds ? number * 1000 : number).rounded(.down)).map {
        NightscoutTime.Parsed(milliseconds: $0, offset: nil)
      }
    case .string(let text)?: return NightscoutTime.parse(text, serverOffset: serverOffset)
    default: return nil
    }
  }

  private static func isFilled(_ value: DocumentValue?) -> Bool {
    value?.text.map { !$0.allSatisfy(\.isWhitespace) } ?? false
  }

  /// The kind of an entry is no part of it.
  private static func defaultIdentifier(_ document: NightscoutDocument) -> String {
    let device = document["device"]?.text ?? "undefined"
    let event = document["eventType"]?.text.map { "_" + $0 } ?? ""
    return NightscoutDigest.identifier("\(device)_\(document["date"]?.json ?? "")\(event)")
  }
}
