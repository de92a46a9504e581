// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The data of one record that glucoport wrote into a treatment, in addition to the members that other programs read.
package struct NightscoutPart: Hashable, Sendable {
  /// The maximum number of nodes that find the answer to a repeated change.
  private static let maxSent = 16

  /// The record's identity.
  package let guid: String
  /// The record's content when it was written.
  package var state: RecordState
  /// The members for other programs when the state was written. One that differs from the current value was edited there.
  package var seen: [String: JSONValue]
  /// The last accepted change of each node: its id, version and digest.
  package private(set) var sent: [String]
  /// The server's clock at the time of writing, in milliseconds; nil if unknown.
  package private(set) var writtenAt: Int64?

  /// A new part.
  package init(guid: String, state: RecordState, seen: [String: JSONValue] = [:], sent: [String] = []) {
    (self.guid, self.state, self.seen, self.sent) = (guid, state, seen, sent)
  }

  /// Nil for an invalid or damaged value.
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

  /// The parts in a list; empty if it is not a list.
  package static func parts(_ list: JSONValue?) -> [NightscoutPart] {
    list?.items?.compactMap(NightscoutPart.init) ?? []
  }

  /// API v1 escapes characters of HTML in every text; the digest shows whether it did.
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

  /// The part's form in a treatment. The state is a text, since a database may change the order and the numbers of an
  /// object, and refuses some names of fields.
  var json: JSONValue {
    var members: [String: JSONValue] = [
      "guid": .text(guid), "state": .text(sealedState), "digest": .text(state.digest), "seen": .object(seen),
      "sent": .list(sent.suffix(Self.maxSent).map(JSONValue.text)),
    ]
    if let writtenAt { members["written_at"] = .number(Double(writtenAt)) }
    return .object(members)
  }

  /// The state's JSON without `<`, since API v1 rewrites texts that contain it.
  private var sealedState: String { state.json.replacing("<", with: "\\u003c") }

  /// Records a change as accepted.
  ///
  /// - Parameter now: the server's clock in milliseconds.
  package mutating func note(_ change: RecordChange, at now: Int64) {
    writtenAt = now
    sent.removeAll { $0.hasPrefix(change.node) }
    sent.append(Self.mark(change))
  }

  /// The identification of an accepted change.
  package static func mark(_ change: RecordChange) -> String {
    "\(change.node) \(change.version) \(change.digest.prefix(12))"
  }
}
