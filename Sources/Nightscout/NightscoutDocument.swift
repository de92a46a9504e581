// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The two collections with readings and records.
package enum NightscoutCollection: String, Codable, Sendable {
  case entries, treatments

  /// The member with the time of documents. Treatments of API v1 have no `date`.
  package var timeName: String { self == .entries ? "date" : "created_at" }
}

/// A document as API v3 returns it, written by any program.
package struct NightscoutDocument: Hashable, Sendable {
  /// The member with all data of glucoport.
  package static let ownName = "glucoport"
  /// The writing program's name, which every document must have.
  package static let app = "glucoport"
  /// The maximum length in escaped form. A longer one would not fit into a revision, and no known program makes one.
  static let longestIdentifier = 100

  package let members: JSONValue
  /// The document's key; for a document of API v1, its `_id`.
  package let identifier: String

  /// Nil without a key that fits a path.
  package init?(_ members: JSONValue) {
    guard let identifier = members["identifier"]?.text, !identifier.isEmpty,
      Self.escaped(identifier).utf8.count <= Self.longestIdentifier
    else { return nil }
    self.members = members
    self.identifier = identifier
  }

  package subscript(name: String) -> JSONValue? { members[name] }

  /// The data of glucoport; nil in documents of other programs.
  package var own: JSONValue? { members[Self.ownName] }

  /// Whether its event was moved in time. The time of a document cannot change, so the event is in another document.
  package var isMoved: Bool { own?["moved"] != nil }

  /// Whether its record is hidden by a withdrawal. That is not a deletion: other stores keep the record.
  package var isWithdrawn: Bool { own?["withdrawn"] == .flag(true) }

  package var isDeleted: Bool { members["isValid"] == .flag(false) }

  /// Whether its insulin or carbohydrates count on a running site, which ignores deletions.
  package var acts: Bool {
    ["insulin", "carbs"].contains { name in members[name]?.number.map { $0 != 0 } ?? false }
  }

  /// The time at which the server stored it; nil if only API v1 wrote it. Such documents have no mark, and a search
  /// returns the event's time in its place.
  package var modified: Int64? {
    guard let modified = members["srvModified"]?.integer, NightscoutTime.isPossible(modified) else {
      return nil
    }
    let times = [members["date"], members["created_at"]].compactMap {
      $0?.instant?.milliseconds
    }
    return times.contains(modified) ? nil : modified
  }

  /// A digest of everything that API v1 may have changed without changing `srvModified`: all members except those that
  /// the server writes.
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

  /// An identifier in escaped form for a path. Dots are escaped, since the server would take the rest for a file
  /// extension.
  package static func escaped(_ text: String) -> String { HTTPText.escaped(text, plain: "-_") }
}

extension NightscoutDocument: NightscoutFields {
  /// The value of a member; `null` if it is missing.
  package subscript(member: NightscoutMember) -> JSONValue { members[member.name] ?? .null }
}

/// The last writer of our data in a document, so that a run recognises its own writes.
package struct NightscoutWriter: Hashable, Sendable {
  package let node: String
  package let run: String

  init(node: String, run: String) { (self.node, self.run) = (node, run) }

  /// The run as a writer.
  package init(_ run: RunStamp) {
    self.init(node: run.node, run: run.id)
  }

  /// The last writer in our member; nil for an invalid one.
  package init?(_ own: JSONValue?) {
    guard let node = own?["node"]?.text, let run = own?["run"]?.text else { return nil }
    self.init(node: node, run: run)
  }

  var members: [String: JSONValue] { ["node": .text(node), "run": .text(run)] }
}
