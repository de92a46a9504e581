// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Identifies one state of a record by a digest of its content, since edits by API v1 change no mark of the server. It
/// also has the document's key if that differs from the record's id.
struct NightscoutRevision: Hashable, Sendable {
  private static let tombstone = "deleted"

  /// The digest of the content, or the word for a tombstone.
  let mark: String
  /// The document's key in escaped form.
  let path: String

  /// The revision of a state in the document with this key.
  init(_ state: RecordState, identifier: String) {
    self.init(state, path: NightscoutDocument.escaped(identifier))
  }

  /// The revision of a state in the document with this key in escaped form.
  init(_ state: RecordState, path: String) {
    var state = state
    state.editedAt = nil
    mark = state.isDeleted ? Self.tombstone : NightscoutDocument.digest(state.json)
    self.path = path
  }

  /// Parses a revision of this record.
  init(_ text: String, guid: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    mark = String(parts[0])
    path = parts.count > 1 ? String(parts[1]) : guid
  }

  var isDeleted: Bool { mark == Self.tombstone }

  /// The revision's text for the store.
  func text(guid: String) -> String { path == guid ? mark : "\(mark).\(path)" }
}

extension NightscoutRecord {
  /// The revision of its state.
  var revision: String { NightscoutRevision(state, identifier: identifier).text(guid: guid) }

  /// The record for the port.
  var remote: RemoteRecord { RemoteRecord(guid: guid, revision: revision, state: state) }
}
