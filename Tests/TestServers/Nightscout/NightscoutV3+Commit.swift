// SPDX-License-Identifier: Apache-2.0

extension NightscoutV3 {
  /// The maximum size of one document in the database.
  private static let maxDocumentBytes = 16 << 20

  /// Writes into the database, and updates the memory of the running site.
  func commit(_ write: Write, _ state: inout NightscoutState) throws(NightscoutAnswer) {
    guard call.body.count <= Self.maxDocumentBytes else { throw .databaseError }
    switch write {
    case .insert(var document):
      document["_id"] = document["_id"] ?? state.objectID()
      state.insert(document, in: collection, hiddenUntil: hiddenUntil(document, state))
      state.memory.update(collection, [document], now: state.now)
    case .replace(let name, var document):
      guard let old = state.named(name, in: collection, byIdentifierFirst: false) else { break }
      if let id = document["_id"], id != old.document["_id"] { throw .databaseError }
      document["_id"] = old.document["_id"]
      state.replace(old.row, document, in: collection, hiddenUntil: hiddenUntil(document, state))
      state.memory.update(collection, [document], now: state.now)
    case .set(let name, let changes): set(changes, of: name, &state)
    case .remove(let name):
      let found = state.allNamed(name, in: collection)
      if let first = found.first { state.remove(first.row, in: collection) }
      state.memory.remove(collection, found.map(\.document))
    }
    if let count = state.prune(collection), count > 0 { state.memory.forget() }
    state.memory.mark(state.now)
  }

  private func set(_ changes: NightscoutDocument, of name: String, _ state: inout NightscoutState) {
    guard let old = state.named(name, in: collection, byIdentifierFirst: false) else { return }
    var document = old.document
    for (field, value) in changes {
      Self.set(field.split(separator: ".").map(String.init)[...], value, in: &document)
    }
    let found = state.allNamed(name, in: collection).map { $0.row == old.row ? document : $0.document }
    state.replace(old.row, document, in: collection, hiddenUntil: hiddenUntil(document, state))
    if found.first?["isValid"] == false {
      state.memory.remove(collection, found)
    } else {
      state.memory.update(collection, Array(found.prefix(1)), now: state.now)
    }
  }

  private func hiddenUntil(_ document: NightscoutDocument, _ state: NightscoutState) -> Int64? {
    let delay = state.settings.visibilityDelayMilliseconds
    guard delay > 0, state.settings.lateSubject == nil || state.settings.lateSubject == caller.name else {
      return nil
    }
    return (document["srvModified"]?.whole ?? state.now) + delay
  }

  /// Sets the value at a path of keys, and adds missing objects.
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
