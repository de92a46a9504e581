// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The mark of one state of a record: a digest of the content, since edits through API v1 leave every mark of the server
/// as it was; and the document's key where that is not the record's id.
struct NightscoutRevision: Hashable, Sendable {
  private static let tombstone = "deleted"

  /// The digest of the content, or the word for a tombstone.
  let mark: String
  /// The document's key, as a path holds it.
  let path: String

  /// The mark of a state in the document with this key.
  init(_ state: RecordState, identifier: String) {
    self.init(state, path: NightscoutDocument.escaped(identifier))
  }

  /// The mark of a state in the document with this key, as a path holds it.
  init(_ state: RecordState, path: String) {
    var state = state
    state.editedAt = nil
    mark = state.isDeleted ? Self.tombstone : NightscoutDocument.digest(state.json)
    self.path = path
  }

  /// The mark that a revision of this record states.
  init(_ text: String, guid: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    mark = String(parts[0])
    path = parts.count > 1 ? String(parts[1]) : guid
  }

  var isDeleted: Bool { mark == Self.tombstone }

  /// The revision as the store keeps it.
  func text(guid: String) -> String { path == guid ? mark : "\(mark).\(path)" }
}
