// SPDX-License-Identifier: Apache-2.0

extension NightscoutV1 {
  /// One after the other: what stands before a bad one is stored.
  func postEntries(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let sent = try Self.body(call)
    let entries = sent.array ?? (sent["date"] == nil ? [] : [sent])
    var answer: [DocumentValue] = []
    for (index, entry) in entries.enumerated() {
      guard let entry = entry.object, let stored = Self.upsertEntry(entry, &state) else {
        throw Self.mongoError(index)
      }
      answer.append(.object(stored))
    }
    return .bare(.array(answer))
  }

  static func mongoError(_ index: Int) -> NightscoutAnswer {
    let problem: DocumentValue = ["index": DocumentValue(Int64(index)), "code": 66, "errmsg": "not storable"]
    return .v1(500, "Mongo Error", ["writeErrors": [problem]])
  }

  /// Merges an entry into the one of the same time and kind, or adds it; `_id` is shown where it was added. Nil for
  /// what the database does not take.
  static func upsertEntry(
    _ sent: NightscoutDocument, _ state: inout NightscoutState
  ) -> NightscoutDocument? {
    guard !sent.keys.contains(where: { $0.hasPrefix("$") || $0.isEmpty }) else { return nil }
    let entry = timed(sent, state)
    guard let met = met(by: entry, state) else {
      var added = entry
      added["_id"] = entry["_id"] ?? state.objectID()
      state.insert(added, in: "entries")
      return added
    }
    if let id = entry["_id"], id != met.document["_id"] { return nil }
    state.replace(met.row, met.document.merging(entry) { $1 }, in: "entries")
    return entry
  }

  /// The entry with its `sysTime`: from its text, else its number, else the server's clock.
  private static func timed(_ sent: NightscoutDocument, _ state: NightscoutState) -> NightscoutDocument {
    var entry = sent
    let text = sent["dateString"]?.text.flatMap { NightscoutTime.parse($0) }
    let time = text?.milliseconds ?? sent["date"]?.whole ?? state.now
    let system = DocumentValue.string(NightscoutTime.iso(time))
    entry["sysTime"] = system
    let offset = text.map { $0.offset ?? 0 } ?? state.settings.serverOffsetMinutes
    entry["utcOffset"] = DocumentValue(Int64(offset))
    if sent["dateString"] != nil { entry["dateString"] = system }
    return entry
  }

  private static func met(
    by entry: NightscoutDocument, _ state: NightscoutState
  ) -> NightscoutCollection.Seen? {
    let same = state.seen("entries", "sysTime", entry["sysTime"] ?? .null)
    guard let type = entry["type"] else {
      return same.first { seen in entry.allSatisfy { seen.document[$0.key] == $0.value } }
    }
    return same.first { $0.document["type"] == type }
  }
}
