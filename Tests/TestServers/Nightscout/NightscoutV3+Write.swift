// SPDX-License-Identifier: Apache-2.0

extension NightscoutV3 {
  func create(_ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    let document = filled(try body(), state)
    guard let existing = existing(by: document, state) else { return try insert(document, state) }
    return try replace(existing, with: document, state, isDeduplication: true)
  }

  func replace(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    var document = filled(try body(), state)
    document["identifier"] = .string(identifier)
    guard let stored = stored(identifier, state) else { return try insert(document, state) }
    try checkState(stored)
    return try replace(NightscoutShape.dated(stored, in: collection), with: document, state)
  }

  func patch(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    var changes = try body()
    try require("update")
    guard let stored = stored(identifier, state) else { throw .error(404) }
    try checkState(stored)
    let seen = NightscoutShape.dated(stored, in: collection)
    try NightscoutShape.checkChange(of: seen, to: changes)
    try NightscoutShape.check(changes, isPatch: true)
    if changes["_id"] != nil { throw .databaseError }
    changes["srvModified"] = DocumentValue(state.now)
    if let name = caller.name { changes["modifiedBy"] = .string(name) }
    NightscoutDuration.settle(&changes, stored: seen)
    let answer = NightscoutAnswer.done(200, [:], headers: [modified(state)])
    return .write(.set(identifier, changes), then: answer)
  }

  /// Deletes a document. Preconditions are ignored.
  func delete(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    try require("delete")
    guard let stored = state.named(identifier, in: collection)?.document else { throw .error(404) }
    try NightscoutShape.checkReadOnly(stored)
    if call.query["permanent"] == "true" { return .write(.remove(identifier), then: .done(200, [:])) }
    var changes: NightscoutDocument = ["isValid": false, "srvModified": DocumentValue(state.now)]
    if let name = caller.name { changes["modifiedBy"] = .string(name) }
    return .write(.set(identifier, changes), then: .done(200, [:]))
  }
}

extension NightscoutV3 {
  /// The members that were sent. Those of a list are named 0, 1, and so on.
  private func body() throws(NightscoutAnswer) -> NightscoutDocument {
    let items = sent?.array?.enumerated().map { (String($0.offset), $0.element) }
    let object = items.map { NightscoutDocument($0) { $1 } } ?? sent?.object ?? [:]
    guard !object.isEmpty else { throw .badBody }
    return object
  }

  private func filled(_ document: NightscoutDocument, _ state: NightscoutState) -> NightscoutDocument {
    NightscoutShape.filled(document, serverOffset: state.settings.serverOffsetMinutes)
  }

  /// The document with this `identifier`, or with this `_id` if it has no `identifier`, as API v3 shows it.
  private func stored(_ identifier: String, _ state: NightscoutState) -> NightscoutDocument? {
    let found = state.seen(collection, "identifier", .string(identifier)).first ?? keyed(identifier, state)
    return found.map { NightscoutShape.identified($0.document) }
  }

  private func keyed(_ identifier: String, _ state: NightscoutState) -> NightscoutCollection.Seen? {
    guard NightscoutState.isKey(identifier) else { return nil }
    return state.seen(collection, "_id", .id(identifier.lowercased())).first {
      $0.document["identifier"] == nil
    }
  }

  /// The stored document that a POST matches. It has the same identifier, or is the same event from an older
  /// API.
  private func existing(by document: NightscoutDocument, _ state: NightscoutState) -> NightscoutDocument? {
    if let identifier = document["identifier"]?.text, let found = stored(identifier, state) { return found }
    guard state.settings.meetsLegacyDocuments, let keys = Self.legacyKeys[collection],
      keys.allSatisfy({ document[$0] != nil }), let first = keys.first, let value = document[first]
    else { return nil }
    let found = state.seen(collection, first, value).first { seen in
      seen.document["identifier"] == nil && keys.allSatisfy { seen.document[$0] == document[$0] }
    }
    return found.map { NightscoutShape.identified($0.document) }
  }

  private static let legacyKeys = [
    "entries": ["date", "type"], "treatments": ["created_at", "eventType"],
    "devicestatus": ["created_at", "device"], "food": ["created_at"], "profile": ["created_at"],
  ]

  private func insert(_ filled: NightscoutDocument, _ state: NightscoutState) throws(NightscoutAnswer) -> Step
  {
    try require("create")
    try NightscoutShape.checkIdentifier(filled)
    try NightscoutShape.check(filled)
    var document = filled
    document["srvCreated"] = DocumentValue(state.now)
    document["srvModified"] = DocumentValue(state.now)
    if let name = caller.name { document["subject"] = .string(name) }
    let identifier = document["identifier"] ?? ""
    let fields: NightscoutDocument = ["identifier": identifier, "lastModified": DocumentValue(state.now)]
    let answer = NightscoutAnswer.done(201, fields, headers: [modified(state), location(identifier)])
    return .write(.insert(document), then: answer)
  }

  /// A full replacement: fields that were not sent are removed.
  /// - Parameter stored: the stored document as API v3 shows it; for a PUT, with its computed times.
  private func replace(
    _ stored: NightscoutDocument, with filled: NightscoutDocument, _ state: NightscoutState,
    isDeduplication: Bool = false
  ) throws(NightscoutAnswer) -> Step {
    try require("update")
    try NightscoutShape.checkChange(of: stored, to: filled, mayIdentify: isDeduplication)
    try NightscoutShape.check(filled)
    var document = filled
    document["srvModified"] = DocumentValue(state.now)
    document["srvCreated"] = stored["srvCreated"] ?? DocumentValue(state.now)
    if let name = caller.name { document["subject"] = .string(name) }
    NightscoutDuration.settle(&document)
    var fields: NightscoutDocument = ["lastModified": DocumentValue(state.now)]
    var headers = [modified(state)]
    let identifier = document["identifier"] ?? ""
    if isDeduplication {
      headers.append(location(identifier))
      fields["identifier"] = identifier
      fields["isDeduplication"] = true
      if stored["identifier"] != identifier { fields["deduplicatedIdentifier"] = stored["identifier"] }
    }
    let name = stored["identifier"]?.text ?? ""
    return .write(.replace(name, document), then: .done(200, fields, headers: headers))
  }

  private func modified(_ state: NightscoutState) -> String {
    "Last-Modified: \(NightscoutTime.http(state.now))"
  }

  /// The path of the call followed by the identifier, even for a PUT, whose path already ends with it.
  private func location(_ identifier: DocumentValue) -> String {
    "Location: \(path)/\(identifier.text ?? "")"
  }

  /// The checks of PUT and PATCH before they read the body. They end the call with status 410 or 412.
  private func checkState(_ stored: NightscoutDocument) throws(NightscoutAnswer) {
    guard stored["isValid"] != false else { throw .error(410) }
    // A date that cannot be read is not a precondition.
    let limit = call.headers["if-unmodified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
    let modified = NightscoutShape.dated(stored, in: collection)["srvModified"]?.whole
    if let limit, let modified, NightscoutTime.cut(modified) > NightscoutTime.cut(limit) { throw .error(412) }
  }
}
