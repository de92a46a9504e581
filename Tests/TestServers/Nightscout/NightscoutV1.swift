// SPDX-License-Identifier: Apache-2.0

/// One call of API v1, or of API v2 where it equals API v1, with or without credentials.
struct NightscoutV1 {
  /// The caller, which the credentials of the call identify.
  let caller: NightscoutAccess.Caller
  let call: NightscoutCall
  let sent: DocumentValue
  /// The parts of the path after the version, without the extension that requests a format.
  let path: [String]
  /// Whether the path requests JSON.
  let asksForJSON: Bool

  init(_ call: NightscoutCall, _ sent: DocumentValue, by caller: NightscoutAccess.Caller) {
    (self.call, self.sent, self.caller) = (call, sent, caller)
    let (path, asksForJSON) = Self.parts(of: call)
    (self.path, self.asksForJSON) = (path, asksForJSON)
  }

  private static func parts(of call: NightscoutCall) -> ([String], Bool) {
    var path = Array(call.segments.dropFirst(2))
    let asksForJSON = path.last?.lowercased().hasSuffix(".json") ?? false
    if asksForJSON, let last = path.popLast() { path.append(String(last.dropLast(5))) }
    if let first = path.first { path[0] = first.lowercased() }
    return (path, asksForJSON)
  }

  /// Whether the path exists, which is checked before the caller is identified.
  static func serves(_ call: NightscoutCall) -> Bool {
    let (path, _) = parts(of: call)
    switch (call.method, path.first ?? "", path.count) {
    case ("GET", "status", 1), ("GET", "verifyauth", 1), ("POST", "profile", 1), ("PUT", "treatments", 1):
      return true
    case ("GET", "entries", 1...2), ("DELETE", "entries", 1...2), ("POST", "entries", 1): return true
    case ("GET", "treatments", 1), ("DELETE", "treatments", 1...2), ("POST", "treatments", 1): return true
    default: return false
    }
  }

  func answer(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let collection = path[0]
    if collection == "verifyauth" { return .bare(["status": 200, "message": .object(rights)]) }
    try require(collection, "read")
    let id = path.count > 1 ? path[1] : nil
    switch (call.method, collection) {
    case ("GET", "status"): return status(state)
    case ("GET", "entries"): return try readEntries(id, state)
    case ("GET", _): return try readTreatments(state)
    case ("DELETE", _):
      try require(collection, "delete")
      return try delete(collection, id, &state)
    case ("PUT", _):
      try require(collection, "update")
      return putTreatment(&state)
    default:
      try require(collection, "create")
      switch collection {
      case "entries": return try postEntries(&state)
      case "treatments": return try postTreatments(&state)
      default: return postProfile(&state)
      }
    }
  }

  private func require(_ collection: String, _ operation: String) throws(NightscoutAnswer) {
    guard caller.may("api:\(collection):\(operation)") else { throw .unauthorized }
  }

  private var rights: NightscoutDocument {
    let mayRead = caller.may("*:*:read")
    return [
      "canRead": .bool(mayRead), "canWrite": .bool(caller.may("*:*:write")),
      "isAdmin": .bool(caller.may("*:*:admin")), "message": mayRead ? "OK" : "UNAUTHORIZED",
      "rolefound": caller.name == nil ? "NOTFOUND" : "FOUND",
      "permissions": caller.isAnybody ? "DEFAULT" : "ROLE",
    ]
  }

  private func status(_ state: NightscoutState) -> NightscoutAnswer {
    let credential = call.parameter("token") ?? call.parameter("secret")
    let session = credential.flatMap { state.access.session(for: $0, at: state.now) }
    return .bare([
      "status": "ok", "name": "nightscout", "version": .string(NightscoutStandIn.version),
      "serverTime": .string(NightscoutTime.iso(state.now)), "serverTimeEpoch": DocumentValue(state.now),
      "apiEnabled": true, "careportalEnabled": true, "settings": ["units": "mg/dl"],
      "authorized": session.map { .object($0.fields) } ?? .null, "runtimeState": "loaded",
    ])
  }

  private func postProfile(_ state: inout NightscoutState) -> NightscoutAnswer {
    let profiles = (sent.array ?? [sent]).compactMap { $0.object }.map { profile in
      var profile = profile
      profile["_id"] = state.objectID()
      profile["created_at"] = profile["created_at"] ?? .string(NightscoutTime.iso(state.now))
      state.insert(profile, in: "profile")
      return DocumentValue.object(profile)
    }
    state.memory.mark(state.now)
    return .bare(.array(profiles))
  }
}

extension NightscoutV1 {
  /// Permanently deletes all documents that match the query, whatever its conditions are.
  private func delete(
    _ collection: String, _ id: String?, _ state: inout NightscoutState
  ) throws(NightscoutAnswer) -> NightscoutAnswer {
    var sent = call.query["find"]?.object
    if let id, id != "*" {
      sent = (sent ?? [:]).merging([Self.nameField(collection, id): .string(id)]) { $1 }
    }
    let find = try find(sent ?? [:], collection, state)
    let found = matching(find, collection, state)
    for seen in found { state.remove(seen.row, in: collection) }
    // If the call has neither a query nor an `_id`, the site's code then searches the deleted document again
    // and fails.
    guard sent != nil || id != nil else {
      throw .thrown(500, "Cannot read properties of undefined (reading '_id')")
    }
    if let key = find.id { state.memory.remove(collection, id: key) } else { state.memory.forget() }
    state.memory.mark(state.now)
    return .bare(["acknowledged": true, "deletedCount": DocumentValue(Int64(found.count))])
  }

  /// The field that is compared with the text at the end of a path. This text is the `_id` or `identifier`
  /// of a treatment, or the `_id` or type of an entry.
  private static func nameField(_ collection: String, _ id: String) -> String {
    collection == "treatments" || NightscoutState.isKey(id) ? "_id" : "type"
  }

  private func matching(
    _ find: NightscoutFind, _ collection: String, _ state: NightscoutState
  ) -> [NightscoutCollection.Seen] {
    state.seen(collection).filter { seen in find.conditions.allSatisfy { $0.takes(seen.document) } }
  }

  func find(
    _ sent: NightscoutDocument, _ collection: String, _ state: NightscoutState
  ) throws(NightscoutAnswer) -> NightscoutFind {
    do {
      return try NightscoutFind(sent, in: collection, at: state.now)
    } catch {
      throw .thrown(500, "\(error)")
    }
  }
}
