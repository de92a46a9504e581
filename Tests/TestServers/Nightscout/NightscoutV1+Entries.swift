// SPDX-License-Identifier: Apache-2.0

extension NightscoutV1 {
  /// Stores the entries in order, up to the first invalid one.
  func postEntries(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let entries = sent.array ?? (sent["date"] == nil ? [] : [sent])
    var answer: [NightscoutDocument] = []
    for (index, entry) in entries.enumerated() {
      guard let entry = entry.object, let stored = Self.upsertEntry(entry, &state) else {
        throw Self.mongoError(index)
      }
      answer.append(stored)
    }
    if !answer.isEmpty {
      state.memory.update("entries", answer.map(NightscoutMemory.processed), now: state.now)
      state.memory.mark(state.now)
    }
    return .bare(.array(answer.map { .object($0) }))
  }

  static func mongoError(_ index: Int) -> NightscoutAnswer {
    let text: DocumentValue = "Performing an update on the path '_id' would modify the immutable field '_id'"
    let problem: DocumentValue = ["index": DocumentValue(Int64(index)), "code": 66, "errmsg": text]
    return .v1(500, "Mongo Error", ["code": 66, "writeErrors": [problem]])
  }

  /// Merges an entry into the entry with the same time and type, or adds it. The result has `_id` if it was
  /// sent or the entry is added. Nil for an entry that the database refuses.
  static func upsertEntry(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> NightscoutDocument? {
    guard isStorable(sent) else { return nil }
    let entry = timed(keyed(sent.mapValues(HTMLText.cleaned)), state)
    guard let existing = existing(by: entry, state) else {
      var added = entry
      added["_id"] = entry["_id"] ?? state.objectID()
      if let id = entry["_id"], !state.seen("entries", "_id", id).isEmpty { return nil }
      state.insert(added, in: "entries")
      return added
    }
    if let id = entry["_id"], id != existing.document["_id"] { return nil }
    state.replace(existing.row, existing.document.merging(entry) { $1 }, in: "entries")
    return entry
  }

  /// Whether the database accepts the document: no name of a field is empty or begins with a dollar sign.
  static func isStorable(_ document: NightscoutDocument) -> Bool {
    !document.keys.contains { $0.hasPrefix("$") || $0.isEmpty }
  }

  /// Converts a sent `_id`. A text of 24 digits is a key of the database. Another text becomes the identifier
  /// if none was sent.
  static func keyed(_ sent: NightscoutDocument) -> NightscoutDocument {
    guard case .string(let text)? = sent["_id"] else { return sent }
    var document = sent
    document["_id"] = NightscoutState.isKey(text) ? .id(text.lowercased()) : nil
    if document["_id"] == nil, !text.isEmpty, !JavaScriptNumber.isTruthy(sent["identifier"]) {
      document["identifier"] = .string(text)
    }
    return document
  }

  /// The entry with its `sysTime`, which is computed from `dateString`, otherwise from `date`, otherwise from
  /// the server's clock.
  private static func timed(_ sent: NightscoutDocument, _ state: NightscoutState) -> NightscoutDocument {
    var entry = sent
    let hasText = JavaScriptNumber.isTruthy(sent["dateString"])
    let hasDate = !hasText && JavaScriptNumber.isTruthy(sent["date"])
    var (time, offset): (Int64?, Int?) = (state.now, state.settings.serverOffsetMinutes)
    if hasText {
      let parsed = sent["dateString"]?.text.flatMap { NightscoutTime.parse($0) }
      (time, offset) = (parsed?.milliseconds, parsed.map { $0.offset ?? 0 })
    } else if hasDate {
      time = sent["date"]?.whole ?? sent["date"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
      if time == nil { offset = nil }
    }
    entry["sysTime"] = time.map { .string(NightscoutTime.iso($0)) } ?? .null
    entry["utcOffset"] = offset.map { DocumentValue(Int64($0)) } ?? .null
    if hasText { entry["dateString"] = entry["sysTime"] }
    return entry
  }

  /// The stored entry that the sent entry replaces. Both entries have the same time and type. If the sent
  /// entry lacks time or type, all its fields must be equal to the stored ones.
  private static func existing(
    by entry: NightscoutDocument, _ state: NightscoutState
  ) -> NightscoutCollection.Seen? {
    if let time = entry["sysTime"], time != .null, let type = entry["type"], JavaScriptNumber.isTruthy(type) {
      return state.seen("entries", "sysTime", time).first { $0.document["type"] == type }
    }
    let key = entry["date"].map { ("date", $0) } ?? ("sysTime", entry["sysTime"] ?? .null)
    return state.seen("entries", key.0, key.1).first { seen in
      entry.allSatisfy { seen.document[$0.key] ?? .null == $0.value }
    }
  }
}
