// SPDX-License-Identifier: Apache-2.0

extension NightscoutV3 {
  func create(_ state: inout NightscoutState) throws(NightscoutAnswer) -> Step {
    try require("create")
    let document = try NightscoutShape.filled(
      try body(state), serverOffset: state.settings.serverOffsetMinutes)
    guard let met = met(by: document, state) else { return insert(document, state) }
    try require("update")
    try NightscoutShape.checkChange(of: met.document, to: document, mayIdentify: true)
    let replaced = successor(of: met.document, document, state)
    let identifier = document["identifier"] ?? ""
    var fields: NightscoutDocument = [
      "identifier": identifier, "isDeduplication": true, "lastModified": DocumentValue(state.now),
    ]
    let old = met.document["identifier"] ?? met.document["_id"]
    if old != identifier { fields["deduplicatedIdentifier"] = old }
    let answer = NightscoutAnswer.done(200, fields, headers: headers(state, identifier))
    return .write(.replace(met.row, replaced), then: answer)
  }

  func replace(_ identifier: String, _ state: inout NightscoutState) throws(NightscoutAnswer) -> Step {
    try require("update")
    var sent = try body(state)
    sent["identifier"] = sent["identifier"] ?? .string(identifier)
    guard let stored = stored(identifier, state) else {
      try require("create")
      sent["identifier"] = .string(identifier)
      return insert(
        try NightscoutShape.filled(sent, serverOffset: state.settings.serverOffsetMinutes), state, twice: true
      )
    }
    try checkState(stored.document)
    let document = try NightscoutShape.filled(sent, serverOffset: state.settings.serverOffsetMinutes)
    try NightscoutShape.checkChange(of: stored.document, to: document)
    var replaced = successor(of: stored.document, document, state)
    if collection == "treatments" { NightscoutShape.addEnd(&replaced) }
    let answer = NightscoutAnswer.done(
      200, ["lastModified": DocumentValue(state.now)],
      headers: ["Last-Modified: \(NightscoutTime.http(state.now))"])
    return .write(.replace(stored.row, replaced), then: answer)
  }

  func patch(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    try require("update")
    let sent = try body(state)
    guard let stored = stored(identifier, state) else { throw .error(404) }
    try checkState(stored.document)
    try NightscoutShape.checkChange(of: stored.document, to: sent)
    var document = stored.document
    for (field, value) in sent {
      guard field != "_id", !field.hasPrefix("$") else { throw .error(500, "Database error") }
      Self.set(field.split(separator: ".").map(String.init)[...], value, in: &document)
    }
    document["srvModified"] = DocumentValue(state.now)
    document["modifiedBy"] = caller.name.map(DocumentValue.string)
    if collection == "treatments" { NightscoutShape.addEnd(&document) }
    let answer = NightscoutAnswer.done(
      200, [:], headers: ["Last-Modified: \(NightscoutTime.http(state.now))"])
    return .write(.replace(stored.row, document), then: answer)
  }

  /// No precondition is looked at.
  func delete(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    try require("delete")
    guard let stored = stored(identifier, state) else { throw .error(404) }
    try NightscoutShape.checkReadOnly(stored.document)
    if call.parameter("permanent") == "true" { return .write(.remove(stored.row), then: .done(200, [:])) }
    var document = stored.document
    document["isValid"] = false
    document["srvModified"] = DocumentValue(state.now)
    document["modifiedBy"] = caller.name.map(DocumentValue.string)
    return .write(.replace(stored.row, document), then: .done(200, [:]))
  }

  /// The first document that an identifier names; 24 hexadecimal digits may also be an `_id`.
  func stored(_ identifier: String, _ state: NightscoutState) -> NightscoutCollection.Seen? {
    if let found = state.seen(collection, "identifier", .string(identifier)).first { return found }
    guard identifier.count == 24, identifier.allSatisfy(\.isHexDigit) else { return nil }
    return state.seen(collection, "_id", .string(identifier)).first { $0.document["identifier"] == nil }
  }
}

extension NightscoutV3 {
  /// The object that was sent. An array gets the answer of an object without a date.
  private func body(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutDocument {
    guard call.headers["content-type"]?.contains("json") == true else {
      throw .error(400, "Bad or missing request body")
    }
    guard call.body.count <= state.settings.mostBodyBytes else {
      throw .error(500, "request entity too large")
    }
    let value: DocumentValue
    do { value = try DocumentValue(json: call.body) } catch { throw .error(500, "\(error)") }
    guard let object = value.object else { throw .error(400, "Bad or missing date field") }
    guard !object.isEmpty else { throw .error(400, "Bad or missing request body") }
    return object
  }

  /// What a POST meets: the same identifier, else what the older APIs wrote of the same event.
  private func met(by document: NightscoutDocument, _ state: NightscoutState) -> NightscoutCollection.Seen? {
    if let identifier = document["identifier"]?.text, let found = stored(identifier, state) { return found }
    guard state.settings.meetsLegacyDocuments, let keys = Self.legacyKeys[collection], let first = keys.first,
      let value = document[first]
    else { return nil }
    return state.seen(collection, first, value).first { seen in
      seen.document["identifier"] == nil && keys.allSatisfy { seen.document[$0] == document[$0] }
    }
  }

  private static let legacyKeys = [
    "entries": ["date", "type"], "treatments": ["created_at", "eventType"],
    "devicestatus": ["created_at", "device"], "food": ["created_at"], "profile": ["created_at"],
  ]

  /// - Parameter twice: whether `Location` gets the identifier twice, as after a PUT.
  private func insert(_ document: NightscoutDocument, _ state: NightscoutState, twice: Bool = false) -> Step {
    var document = document
    document["srvCreated"] = DocumentValue(state.now)
    document["srvModified"] = DocumentValue(state.now)
    document["subject"] = caller.name.map(DocumentValue.string)
    document["modifiedBy"] = nil
    let identifier = document["identifier"] ?? ""
    let fields: NightscoutDocument = ["identifier": identifier, "lastModified": DocumentValue(state.now)]
    return .write(
      .insert(document), then: .done(201, fields, headers: headers(state, identifier, twice: twice)))
  }

  private func headers(_ state: NightscoutState, _ identifier: DocumentValue, twice: Bool = false) -> [String]
  {
    let name = identifier.text ?? ""
    return [
      "Last-Modified: \(NightscoutTime.http(state.now))",
      "Location: /api/v3/\(collection)/\(name)" + (twice ? "/\(name)" : ""),
    ]
  }

  /// A full replacement: what was not sent is gone, the subject too.
  private func successor(
    of stored: NightscoutDocument, _ sent: NightscoutDocument, _ state: NightscoutState
  ) -> NightscoutDocument {
    var document = sent
    document["_id"] = stored["_id"]
    document["srvCreated"] = stored["srvCreated"] ?? DocumentValue(state.now)
    document["srvModified"] = DocumentValue(state.now)
    document["modifiedBy"] = caller.name.map(DocumentValue.string)
    return document
  }

  /// What PUT and PATCH look at before they look at what was sent: 410, 412, 422.
  private func checkState(_ stored: NightscoutDocument) throws(NightscoutAnswer) {
    guard stored["isValid"] != false else { throw .error(410) }
    // A date that cannot be read is no precondition.
    let limit = call.headers["if-unmodified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
    let modified = stored["srvModified"]?.whole ?? NightscoutShape.eventTime(stored)
    if let limit, let modified, NightscoutTime.cut(modified) > limit { throw .error(412) }
    try NightscoutShape.checkReadOnly(stored)
  }

  /// Sets what a path of keys names, making the objects on the way.
  private static func set(
    _ path: ArraySlice<String>, _ value: DocumentValue, in document: inout NightscoutDocument
  ) {
    guard let key = path.first else { return }
    guard path.count > 1 else {
      document[key] = value
      return
    }
    var inner = document[key]?.object ?? [:]
    set(path.dropFirst(), value, in: &inner)
    document[key] = .object(inner)
  }
}
