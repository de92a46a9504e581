// SPDX-License-Identifier: Apache-2.0

/// One call of API v3 by a caller who is known.
struct NightscoutV3 {
  /// What a call comes to, before anything is written. Look and write are two steps, and nothing holds them together.
  enum Step {
    case answer(NightscoutAnswer)
    case write(Write, then: NightscoutAnswer)
  }

  enum Write {
    case insert(NightscoutDocument)
    case replace(Int, NightscoutDocument)
    case remove(Int)
  }

  static let apiVersion = "3.0.3-alpha"
  /// The smallest instant that is one: smaller numbers are taken as seconds.
  static let firstInstant: Int64 = 946_684_800_000

  let call: NightscoutCall
  let caller: NightscoutAccess.Caller

  var collection: String { call.segments[2] }

  static func version(_ state: NightscoutState) -> NightscoutAnswer {
    .done(200, ["result": .object(versionFields(state))])
  }

  func step(_ state: inout NightscoutState) throws(NightscoutAnswer) -> Step {
    if call.segments.count == 3, collection == "status" { return .answer(status(state)) }
    if call.segments.count == 3, collection == "lastModified" { return .answer(lastModified(state)) }
    guard NightscoutState.collectionNames.contains(collection) else {
      throw .error(404, "Bad operation or collection")
    }
    let identifier = call.segments.count > 3 ? call.segments[3] : nil
    switch (call.method, identifier) {
    case ("GET", nil): return .answer(try search(state))
    case ("GET", "history"): return .answer(try history(state))
    case ("GET", .some) where call.segments.count == 4: return .answer(try read(state))
    case ("POST", nil): return try create(&state)
    case ("PUT", let identifier?): return try replace(identifier, &state)
    case ("PATCH", let identifier?): return try patch(identifier, state)
    case ("DELETE", let identifier?): return try delete(identifier, state)
    default: throw .error(404, "Bad operation or collection")
    }
  }

  func commit(_ write: Write, _ state: inout NightscoutState) {
    switch write {
    case .insert(var document):
      document["_id"] = state.objectID()
      state.insert(document, in: collection, hiddenUntil: hiddenUntil(document, state))
    case .replace(let row, let document):
      state.replace(row, document, in: collection, hiddenUntil: hiddenUntil(document, state))
    case .remove(let row): state.remove(row, in: collection)
    }
    state.prune(collection)
  }

  /// Ends the call where the caller lacks a right.
  func require(_ operation: String) throws(NightscoutAnswer) {
    let right = "api:\(collection):\(operation)"
    guard caller.may(right) else { throw .error(403, "Missing permission \(right)") }
  }

  private func hiddenUntil(_ document: NightscoutDocument, _ state: NightscoutState) -> Int64? {
    let delay = state.settings.visibilityDelayMilliseconds
    guard delay > 0, state.settings.lateSubject == nil || state.settings.lateSubject == caller.name else {
      return nil
    }
    return (document["srvModified"]?.whole ?? state.now) + delay
  }

  private static func versionFields(_ state: NightscoutState) -> NightscoutDocument {
    [
      "version": .string(NightscoutStandIn.version), "apiVersion": .string(apiVersion),
      "srvDate": DocumentValue(state.now), "storage": ["storage": "mongodb", "version": "4.4.0"],
    ]
  }

  /// The rights are looked up under a wrong name, so that only those for all collections show.
  private func status(_ state: NightscoutState) -> NightscoutAnswer {
    let letters = [("create", "c"), ("read", "r"), ("update", "u"), ("delete", "d")]
    let shown = letters.filter { caller.may("api:undefined:\($0.0)") }.map(\.1).joined()
    var permissions: NightscoutDocument = [:]
    for name in NightscoutState.collectionNames where !shown.isEmpty { permissions[name] = .string(shown) }
    var result = Self.versionFields(state)
    result["apiPermissions"] = .object(permissions)
    return .done(200, ["result": .object(result)])
  }

  /// The larger of change and event time: one event in the future holds it there.
  private func lastModified(_ state: NightscoutState) -> NightscoutAnswer {
    var latest: NightscoutDocument = [:]
    for name in NightscoutState.collectionNames where caller.may("api:\(name):read") {
      let times = state.seen(name).flatMap { seen in
        [seen.document["srvModified"]?.whole, NightscoutShape.eventTime(seen.document)].compactMap { $0 }
      }
      latest[name] = times.max().map { DocumentValue($0) }
    }
    return .done(200, ["result": ["srvDate": DocumentValue(state.now), "collections": .object(latest)]])
  }
}
