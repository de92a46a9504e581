// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// What glucoport wrote of one record into a treatment, beside the members that other programs read.
package struct NightscoutPart: Hashable, Sendable {
  /// As many nodes find the answer to a change that they send again.
  private static let maxSent = 16

  /// The record's identity.
  package let guid: String
  /// The record's content, as it was written.
  package var state: RecordState
  /// The members for other programs, as they were written with the state: one that differs by now was edited there.
  package var seen: [String: JSONValue]
  /// For each node the last change that was accepted: its id, version and digest.
  package private(set) var sent: [String]
  /// The server's clock when it was written, in milliseconds; nil where nobody noted it.
  package private(set) var writtenAt: Int64?

  /// A part that no document holds yet.
  package init(guid: String, state: RecordState, seen: [String: JSONValue] = [:], sent: [String] = []) {
    (self.guid, self.state, self.seen, self.sent) = (guid, state, seen, sent)
  }

  /// Nil for what is none, or was damaged.
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

  /// The parts of a list; none where it is no list.
  package static func parts(_ list: JSONValue?) -> [NightscoutPart] {
    list?.items?.compactMap(NightscoutPart.init) ?? []
  }

  /// API v1 replaces signs of HTML in every text, and the digest shows whether it did.
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

  /// As a treatment holds it. The state is a text, since a database may change the order and the numbers of an object, and
  /// takes not every name of a field.
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

  /// Remembers a change as accepted.
  ///
  /// - Parameter now: the server's clock in milliseconds.
  package mutating func note(_ change: RecordChange, at now: Int64) {
    writtenAt = now
    sent.removeAll { $0.hasPrefix(change.node) }
    sent.append(Self.mark(change))
  }

  /// What is noted of an accepted change.
  package static func mark(_ change: RecordChange) -> String {
    "\(change.node) \(change.version) \(change.digest.prefix(12))"
  }
}
