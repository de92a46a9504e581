// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What glucoport stores of one record in a treatment. Other members of the treatment contain the values that
/// other programs read.
package struct NightscoutPart: Hashable, Sendable {
  /// The maximum number of nodes whose last change is stored, to recognise a repeated request.
  private static let maxSent = 16

  /// The guid of the record.
  package let guid: String
  /// The content of the record when glucoport last wrote it.
  package var state: RecordState
  /// The values of the members for other programs, when glucoport last wrote them. If a member has another
  /// value, another program has edited it.
  package var seen: [String: JSONValue]
  /// For each node, the last change that was accepted from it, as `identifier(of:)` returns it.
  package private(set) var sent: [String]
  /// The server's clock when glucoport last wrote this record, in milliseconds; nil if unknown.
  package private(set) var writtenAt: Int64?

  /// A part for a record that glucoport has not written before.
  package init(guid: String, state: RecordState, seen: [String: JSONValue] = [:], sent: [String] = []) {
    (self.guid, self.state, self.seen, self.sent) = (guid, state, seen, sent)
  }

  /// Nil if the value is invalid or damaged.
  init?(_ value: JSONValue) {
    guard let guid = value["guid"]?.text, Guid.isValid(guid), let text = value["state"]?.text,
      let state = Self.state(text, digest: value["digest"]?.text)
    else { return nil }
    self.guid = guid
    self.state = state
    seen = if case .object(let seen)? = value["seen"] { seen } else { [:] }
    sent = value["sent"]?.items?.compactMap(\.text) ?? []
    writtenAt = value["written_at"]?.integer
  }

  /// The valid parts in a list; empty if it is not a list.
  package static func parts(_ list: JSONValue?) -> [NightscoutPart] {
    list?.items?.compactMap(NightscoutPart.init) ?? []
  }

  /// Parses the state. API v1 may have escaped characters of HTML. If the digest does not match, the
  /// text is unescaped first.
  private static func state(_ text: String, digest: String?) -> RecordState? {
    let plain = state(text)
    if plain?.digest == digest { return plain }
    let unescaped = state(NightscoutText.unescaped(text))
    return unescaped?.digest == digest ? unescaped : plain ?? unescaped
  }

  private static func state(_ text: String) -> RecordState? {
    do throws(JSONError) {
      return try RecordState(json: text)
    } catch {
      return nil
    }
  }

  /// This value as it is written into a treatment. The state is a text, since a database may reorder an
  /// object, change its numbers, and refuse some names of fields.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "guid": .text(guid), "state": .text(escapedState), "digest": .text(state.digest), "seen": .object(seen),
      "sent": .list(sent.suffix(Self.maxSent).map(JSONValue.text)),
    ]
    if let writtenAt { members["written_at"] = .number(Double(writtenAt)) }
    return .object(members)
  }

  /// The state's JSON without the character `<`, since API v1 rewrites texts that contain it.
  private var escapedState: String { state.json.replacing("<", with: "\\u003c") }

  /// Stores that a change was accepted.
  ///
  /// - Parameter now: the server's clock in milliseconds.
  package mutating func recordAccepted(_ change: RecordChange, at now: Int64) {
    writtenAt = now
    sent.removeAll { $0.hasPrefix(change.node) }
    sent.append(Self.identifier(of: change))
  }

  /// A text that identifies an accepted change: node, version and digest.
  package static func identifier(of change: RecordChange) -> String {
    "\(change.node) \(change.version) \(change.digest.prefix(12))"
  }
}
