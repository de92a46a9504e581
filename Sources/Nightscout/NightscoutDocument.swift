// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The two collections that hold what a store holds.
package enum NightscoutCollection: String, Codable, Sendable {
  case entries, treatments

  /// The member by which documents are placed in time. Treatments of API v1 have no `date`.
  package var timeName: String { self == .entries ? "date" : "created_at" }
}

/// A document as API v3 shows it, whoever wrote it.
package struct NightscoutDocument: Hashable, Sendable {
  /// The member that holds all our data.
  package static let ownName = "glucoport"
  /// Who wrote a document, as every document has to say.
  package static let app = "glucoport"
  /// Longer ones, as a path holds them, would not fit into a revision; no known program makes them.
  static let longestIdentifier = 100

  /// All its members.
  package let members: JSONValue
  /// The document's key; of one that API v1 made, its `_id`.
  package let identifier: String

  /// Nil for what has no key that a path could hold.
  package init?(_ members: JSONValue) {
    guard let identifier = members["identifier"]?.text, !identifier.isEmpty,
      Self.escaped(identifier).utf8.count <= Self.longestIdentifier
    else { return nil }
    self.members = members
    self.identifier = identifier
  }

  /// The value of a member; nil where there is none.
  package subscript(name: String) -> JSONValue? { members[name] }

  /// What is ours in it; nil in what others wrote.
  package var own: JSONValue? { members[Self.ownName] }

  /// Whether its event was moved in time, which no document can be: it goes on in another one.
  package var isMoved: Bool { own?["moved"] != nil }

  /// Whether its record is hidden by a withdrawal, which is no deletion: other stores keep the record.
  package var isWithdrawn: Bool { own?["withdrawn"] == .flag(true) }

  /// Whether it is deleted.
  package var isDeleted: Bool { members["isValid"] == .flag(false) }

  /// Whether insulin or carbohydrates of it count on a running site, which does not look at deletions.
  package var acts: Bool {
    ["insulin", "carbs"].contains { name in members[name]?.number.map { $0 != 0 } ?? false }
  }

  /// When the server stored it; nil for what only API v1 touched: its documents have no such mark, and a search shows
  /// the event's time in its place.
  package var modified: Int64? {
    guard let modified = members["srvModified"]?.integer, NightscoutTime.isPossible(modified) else {
      return nil
    }
    let times = [members["date"], members["created_at"]].compactMap {
      $0?.instant?.milliseconds
    }
    return times.contains(modified) ? nil : modified
  }

  /// What an API v1 writer may have changed although `srvModified` stayed: everything, but for what the server itself
  /// writes.
  package var digest: String {
    guard case .object(var all) = members else { return "" }
    for name in ["srvModified", "srvCreated", "modifiedBy", "subject"] { all[name] = nil }
    return Self.digest(JSONValue.object(all).json)
  }

  /// Twelve hexadecimal digits, enough to distinguish states of one document.
  package static func digest(_ text: String) -> String {
    var digest = Digest()
    digest.update(text)
    return String(digest.hexadecimal().prefix(12))
  }

  /// An identifier as a path takes it: a dot would be read as the start of a file's extension.
  package static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}

extension NightscoutDocument: NightscoutFields {
  /// The value of a member; `null` where there is none.
  package subscript(member: NightscoutMember) -> JSONValue { members[member.name] ?? .null }
}
