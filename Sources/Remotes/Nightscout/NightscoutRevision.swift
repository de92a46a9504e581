// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The revision of a record's state on a site: a digest of its content, since edits by API v1 do not change
/// `srvModified`. If the key of the document is not the record's guid, the revision also contains the key.
struct NightscoutRevision: Hashable, Sendable {
  private static let tombstone = "deleted"

  /// The digest of the content; for a tombstone, the word `deleted`.
  let mark: String
  /// The key of the document, escaped for URLs.
  let path: String

  /// The revision of a state in the document with the key `identifier`.
  init(_ state: RecordState, identifier: String) {
    self.init(state, path: NightscoutDocument.escaped(identifier))
  }

  /// The revision of a state in the document with the key `path`, which is escaped for URLs.
  init(_ state: RecordState, path: String) {
    var state = state
    (state.editedAt, state.export) = (nil, nil)
    mark = state.isDeleted ? Self.tombstone : NightscoutDocument.digest(state.json)
    self.path = path
  }

  /// The revision in a text that `text(guid:)` created.
  init(_ text: String, guid: String) {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    mark = String(parts[0])
    path = parts.count > 1 ? String(parts[1]) : guid
  }

  var isDeleted: Bool { mark == Self.tombstone }

  /// The revision as text for the store.
  func text(guid: String) -> String { path == guid ? mark : "\(mark).\(path)" }
}

extension NightscoutRecord {
  /// The revision of the record's state, as text.
  var revision: String { NightscoutRevision(state, identifier: identifier).text(guid: guid) }

  /// The record as `LogbookService` returns it.
  var remote: RemoteRecord { RemoteRecord(guid: guid, revision: revision, state: state) }
}
