// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI

/// A record that a treatment holds.
struct NightscoutRecord: Hashable, Sendable {
  let guid: String
  let state: RecordState
  /// Whether the treatment says exactly what glucoport wrote.
  let isOwn: Bool
  let identifier: String

  var revision: String { NightscoutRevision(state, identifier: identifier).text(guid: guid) }

  var remote: RemoteRecord { RemoteRecord(guid: guid, revision: revision, state: state) }
}

/// What glucoport wrote of one record into a treatment, beside the members that other programs read.
struct NightscoutPart: Hashable, Sendable {
  /// As many nodes find the answer to a change that they send again.
  private static let maxSent = 16

  let guid: String
  var state: RecordState
  /// The members for other programs, as they were written with the state: one that differs by now was edited there.
  var seen: [String: JSONValue]
  /// For each node the last change that was accepted: its id, version and digest.
  var sent: [String]
  /// The server's clock when it was written, in milliseconds; nil where nobody noted it.
  var writtenAt: Int64?

  init(guid: String, state: RecordState, seen: [String: JSONValue], sent: [String]) {
    (self.guid, self.state, self.seen, self.sent) = (guid, state, seen, sent)
  }

  /// Nil for what is none, or was damaged. API v1 replaces signs of HTML in every text.
  init?(_ value: JSONValue) {
    guard let guid = value["guid"]?.text, RecordWire.isGuid(guid), let text = value["state"]?.text,
      let state = Self.state(text, digest: value["digest"]?.text)
    else { return nil }
    self.guid = guid
    self.state = state
    seen = if case .object(let seen)? = value["seen"] { seen } else { [:] }
    sent = value["sent"]?.items?.compactMap(\.text) ?? []
    writtenAt = value["written_at"]?.integer
  }

  private static func state(_ text: String, digest: String?) -> RecordState? {
    let plain = state(text)
    if plain?.digest == digest { return plain }
    let unescaped = state(NightscoutDocument.unescaped(text))
    return unescaped?.digest == digest ? unescaped : plain ?? unescaped
  }

  private static func state(_ text: String) -> RecordState? {
    do throws(WireError) {
      return try RecordWire.state(text)
    } catch {
      return nil
    }
  }

  /// A text, since a database may change the order and the numbers of an object, and takes not every name of a field.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "guid": .text(guid), "state": .text(sealedState), "digest": .text(state.digest), "seen": .object(seen),
      "sent": .list(sent.suffix(Self.maxSent).map(JSONValue.text)),
    ]
    if let writtenAt { members["written_at"] = .number(Double(writtenAt)) }
    return .object(members)
  }

  /// The state's JSON without a `<`, which API v1 takes for HTML and rewrites.
  private var sealedState: String { state.json.replacing("<", with: "\\u003c") }

  /// When somebody else changed the document by API v3; nil where it was API v1, which leaves the server's mark as it was.
  func editTime(_ document: NightscoutDocument) -> Int64? {
    guard let writtenAt, let modified = document.modified, modified > writtenAt + NightscoutCursor.slack
    else { return nil }
    return modified / 1000
  }

  /// Remembers a change as accepted.
  ///
  /// - Parameter now: the server's clock in milliseconds.
  mutating func note(_ change: RecordChange, at now: Int64) {
    writtenAt = now
    sent.removeAll { $0.hasPrefix(change.node) }
    sent.append(Self.mark(change))
  }

  static func mark(_ change: RecordChange) -> String {
    "\(change.node) \(change.version) \(change.digest.prefix(12))"
  }
}
