// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An app of another person. It writes like API v1 and the web page: `srvModified` is not set, and a
/// deletion leaves no document.
package struct NightscoutPhoneApp: Sendable {
  let site: NightscoutSite

  /// Adds an entry, or merges it into the entry with the same time and type. Returns its `_id`.
  @discardableResult
  package func addEntry(_ entry: NightscoutDocument) -> String? {
    site.state.withLock { state in
      guard let stored = NightscoutV1.upsertEntry(entry, &state) else { return nil }
      state.memory.update("entries", [NightscoutMemory.processed(stored)], now: state.now)
      state.memory.mark(state.now)
      let id =
        stored["_id"]
        ?? state.seen("entries", "sysTime", stored["sysTime"] ?? .null)
        .first { $0.document["type"] == stored["type"] }?.document["_id"]
      return id?.text
    }
  }

  /// Adds a treatment like a POST of API v1. Returns the `_id` of the first resulting document.
  @discardableResult
  package func addTreatment(_ treatment: NightscoutDocument) -> String? {
    site.state.withLock { state in
      guard let stored = NightscoutV1.post(treatment, &state)?.first else { return nil }
      let id =
        stored["_id"]
        ?? state.seen("treatments", "created_at", stored["created_at"] ?? .null)
        .first { $0.document["eventType"] == stored["eventType"] }?.document["_id"]
      return id?.text
    }
  }

  /// Sets fields of an entry like the web page; false if no entry has this `_id` or identifier.
  @discardableResult
  package func editEntry(_ id: String, _ fields: NightscoutDocument) -> Bool {
    site.state.withLock { state in
      guard let seen = Self.find(id, in: "entries", state) else { return false }
      let edited = seen.document.merging(fields) { $1 }
      state.replace(seen.row, edited, in: "entries")
      state.memory.update("entries", [NightscoutMemory.processed(edited)], now: state.now)
      state.memory.mark(state.now)
      return true
    }
  }

  /// Reads a treatment, changes fields and puts the whole document with API v1, which resets `utcOffset` to
  /// 0. Returns false if no treatment has this `_id` or identifier.
  @discardableResult
  package func editTreatment(_ id: String, _ fields: NightscoutDocument) -> Bool {
    site.state.withLock { state in
      guard let seen = Self.find(id, in: "treatments", state) else { return false }
      NightscoutV1.putTreatment(seen.document.merging(fields) { $1 }, &state)
      return true
    }
  }

  @discardableResult
  package func deleteEntry(_ id: String) -> Bool { delete(id, in: "entries") }

  @discardableResult
  package func deleteTreatment(_ id: String) -> Bool { delete(id, in: "treatments") }

  private func delete(_ id: String, in collection: String) -> Bool {
    site.state.withLock { state in
      guard let seen = Self.find(id, in: collection, state) else { return false }
      state.remove(seen.row, in: collection)
      if let key = seen.document["_id"]?.text { state.memory.remove(collection, id: key) }
      state.memory.mark(state.now)
      return true
    }
  }

  private static func find(
    _ id: String, in collection: String, _ state: NightscoutState
  ) -> NightscoutCollection.Seen? {
    state.seen(collection, "_id", .id(id)).first
      ?? state.seen(collection, "identifier", .string(id)).first
  }
}
