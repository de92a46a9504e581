// SPDX-License-Identifier: Apache-2.0

/// One change of a record for a server. It is encoded once: the store keeps `json` until the change is answered, and a
/// repeated request sends the same bytes.
package struct RecordChange: Hashable, Sendable {
  /// The identity.
  package let guid: String
  /// The node that first sent this change. With `version` and `digest` a remote recognises a repeated request.
  package let node: String
  /// The version of the record in this change.
  package let version: Int
  /// The remote's revision on which this change is based; nil without one.
  package let base: String?
  /// The content.
  package let state: RecordState
  /// SHA-256 of the state's JSON.
  package let digest: String
  /// The object for `POST /v1/records`, as it was or will be sent.
  package let json: String

  /// A change to this state, based on that revision.
  package init(guid: String, node: String, version: Int, base: String?, state: RecordState) {
    let text = state.json
    self.guid = guid
    self.node = node
    self.version = version
    self.base = base
    self.state = state
    digest = RecordState.digest(of: text)
    json =
      "{\"guid\":\(jsonText(guid)),\"node\":\(jsonText(node)),\"version\":\(version),\"digest\":\"\(digest)\""
      + ",\"base\":\(base.map(jsonText) ?? "null"),\"state\":\(text)}"
  }

  /// The change in a JSON text, which is kept unchanged.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordChange(&scanner)
    }
  }

  /// Reads the object of a change. Its text is kept unchanged.
  package init(_ scanner: inout JSONScanner) throws(JSONError) {
    let (parts, text) = try scanner.withText { (scanner) throws(JSONError) in try Parts(&scanner) }
    guard let guid = parts.guid, let node = parts.node, let version = parts.version, version > 0,
      let state = parts.state, let digest = parts.digest
    else { throw scanner.error("guid, node, version, digest and state are expected") }
    let canonical = state.json
    guard canonical.utf8.count <= RecordState.maxBytes else {
      throw scanner.error("a state of more than \(RecordState.maxBytes) bytes")
    }
    guard digest == RecordState.digest(of: canonical) else {
      throw scanner.error("a digest that is not that of the state")
    }
    self.guid = guid
    self.node = node
    self.version = version
    base = parts.base
    self.state = state
    self.digest = digest
    json = text
  }
}

/// The members of a change while they are read.
private struct Parts {
  var guid: String?
  var node: String?
  var version: Int?
  var base: String?
  var digest: String?
  var state: RecordState?

  init(_ scanner: inout JSONScanner) throws(JSONError) {
    var parts = Parts()
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "guid": parts.guid = try scanner.guid()
      case "node": parts.node = try scanner.guid()
      case "version": parts.version = Int(try scanner.integer())
      case "base": parts.base = try scanner.optionalToken()
      case "digest": parts.digest = try scanner.token()
      case "state": parts.state = try RecordState(&scanner)
      default: return false
      }
      return true
    }
    self = parts
  }

  private init() {}
}

/// A service's answer to one change of a record.
package enum RecordVerdict: Hashable, Sendable {
  /// The service has this state now, with this revision.
  case accepted(revision: String)
  /// The service has another state, on which this change was not based. It may not even know the base, as after a
  /// restore from a backup. Then there is none for a merge.
  case conflict(revision: String, state: RecordState, isBaseKnown: Bool)
  /// The service refuses it permanently, with this reason.
  case refused(reason: String)
}

/// The answers to a batch of changes, in the order of the batch.
package struct RecordAnswer: Hashable, Sendable {
  /// One for each change sent.
  package var verdicts: [RecordVerdict]
  /// The service's position after this request.
  package var position: String?

  /// The answers in the order of the batch.
  package init(verdicts: [RecordVerdict], position: String? = nil) {
    self.verdicts = verdicts
    self.position = position
  }
}

/// A record on a service.
package struct RemoteRecord: Hashable, Sendable {
  /// The identity.
  package var guid: String
  /// The service's id of this state.
  package var revision: String
  /// The content.
  package var state: RecordState

  /// A record with the service's revision.
  package init(guid: String, revision: String, state: RecordState) {
    self.guid = guid
    self.revision = revision
    self.state = state
  }
}
