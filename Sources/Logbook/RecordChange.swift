// SPDX-License-Identifier: Apache-2.0

/// One change of a record that is sent to a server. It is encoded once: the store keeps `json` until the
/// server answers, and a repeated request sends the same bytes.
package struct RecordChange: Hashable, Sendable {
  /// The guid of the record.
  package let guid: String
  /// The node that first sent this change. A remote recognises a repeated request by the node, `version` and
  /// `digest`.
  package let node: String
  /// The version of the record in this change.
  package let version: Int
  /// The remote's revision that the edited content was based on; nil if the remote did not have the record.
  package let base: String?
  /// The content of the record after the change.
  package let state: RecordState
  /// SHA-256 of the state's JSON, in hexadecimal.
  package let digest: String
  /// The JSON object for `POST /v1/records`, exactly as it was or will be sent.
  package let json: String

  /// A change to this state. `base` is the remote's revision on which the change is based.
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

  /// Parses a change from a JSON text. `json` keeps this text unchanged.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in
      try RecordChange(&scanner)
    }
  }

  /// Reads a change from a JSON object. `json` keeps its text unchanged.
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

/// The members of a change while it is read. A member is nil until it was read.
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
  /// The service has stored this state, and returns its revision.
  case accepted(revision: String)
  /// The service has a different state, and the change was not based on it. If `isBaseKnown` is false, the
  /// service does not know the base either, as after a restore from a backup. The two states can then not be
  /// merged.
  case conflict(revision: String, state: RecordState, isBaseKnown: Bool)
  /// The service refuses the change permanently, with this reason.
  case refused(reason: String)
}

/// The answers to a batch of changes, in the order of the batch.
package struct RecordAnswer: Hashable, Sendable {
  /// The verdicts, one for each change that was sent.
  package var verdicts: [RecordVerdict]
  /// The position that the service's list of changes has reached after this request; nil if the service has
  /// no positions.
  package var position: String?

  /// The answers in the order of the batch.
  package init(verdicts: [RecordVerdict], position: String? = nil) {
    self.verdicts = verdicts
    self.position = position
  }
}

/// A record as a service has it.
package struct RemoteRecord: Hashable, Sendable {
  /// The guid of the record.
  package var guid: String
  /// The service's own id of this state, which only the service understands.
  package var revision: String
  /// The content of the record.
  package var state: RecordState

  /// A record with the service's revision.
  package init(guid: String, revision: String, state: RecordState) {
    self.guid = guid
    self.revision = revision
    self.state = state
  }
}
