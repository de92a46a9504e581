// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The two collections of a site that contain readings and records.
package enum NightscoutCollection: String, Codable, Sendable {
  case entries, treatments

  /// The member with the time by which documents are found. Treatments that API v1 wrote have no `date`.
  package var timeName: String { self == .entries ? "date" : "created_at" }
}

/// A document as API v3 returns it, written by any program.
package struct NightscoutDocument: Hashable, Sendable {
  /// The name of the member that contains all data of glucoport.
  package static let ownName = "glucoport"
  /// The value of the member `app`, which every document must have.
  package static let app = "glucoport"
  /// The maximum length of an identifier in escaped form, in bytes. A longer one would not fit into a
  /// revision, and no known program creates one.
  static let longestIdentifier = 100

  package let members: JSONValue
  /// The identifier of the document in API v3. If API v1 wrote the document, it is the `_id`.
  package let identifier: String

  /// Nil if the document has no identifier that can be used in a path.
  package init?(_ members: JSONValue) {
    guard let identifier = members["identifier"]?.text, !identifier.isEmpty,
      Self.escaped(identifier).utf8.count <= Self.longestIdentifier
    else { return nil }
    self.members = members
    self.identifier = identifier
  }

  package subscript(name: String) -> JSONValue? { members[name] }

  /// The member with the data of glucoport; nil in documents of other programs.
  package var own: JSONValue? { members[Self.ownName] }

  /// Whether the item was moved to another time. The time of a document cannot change, so the item is in
  /// another document.
  package var isMoved: Bool { own?["moved"] != nil }

  /// Whether a withdrawal hides the item. This is not a deletion, since other stores keep it.
  package var isWithdrawn: Bool { own?["withdrawn"] == .flag(true) }

  package var isDeleted: Bool { members["isValid"] == .flag(false) }

  /// Whether the insulin or carbohydrates of the document would count on a running site, even if it is
  /// deleted.
  package var countsOnSite: Bool {
    ["insulin", "carbs"].contains { name in members[name]?.number.map { $0 != 0 } ?? false }
  }

  /// When the server stored the document last; nil if only API v1 wrote it. For a document that only API v1
  /// wrote, a search returns the time of the event as `srvModified`.
  package var modified: Int64? {
    guard let modified = members["srvModified"]?.integer, NightscoutTime.isPossible(modified) else {
      return nil
    }
    let times = [members["date"], members["created_at"]].compactMap {
      $0?.instant?.milliseconds
    }
    return times.contains(modified) ? nil : modified
  }

  /// A digest of all members except those that only the server writes. Edits by API v1 change it, although
  /// they do not change `srvModified`.
  package var digest: String {
    guard case .object(var all) = members else { return "" }
    for name in ["srvModified", "srvCreated", "modifiedBy", "subject"] { all[name] = nil }
    return Self.digest(JSONValue.object(all).json)
  }

  /// A short digest: twelve hexadecimal digits, which distinguish the states of one document.
  package static func digest(_ text: String) -> String {
    var digest = Digest()
    digest.update(text)
    return String(digest.hexadecimal().prefix(12))
  }

  /// An identifier in escaped form for a path. Dots are escaped, since the server would treat the text after
  /// a dot as a file extension.
  package static func escaped(_ text: String) -> String { HTTPText.escaped(text, plain: "-_") }
}

extension NightscoutDocument: NightscoutFields {
  /// The value of a member; `null` if it is missing.
  package subscript(member: NightscoutMember) -> JSONValue { members[member.name] ?? .null }
}

/// The node and the sync run that last wrote the data of glucoport in a document. They let a run recognise
/// the documents that it wrote itself.
package struct NightscoutWriter: Hashable, Sendable {
  package let node: String
  package let run: String

  init(node: String, run: String) { (self.node, self.run) = (node, run) }

  /// The writer for a sync run.
  package init(_ run: RunStamp) {
    self.init(node: run.node, run: run.id)
  }

  /// The writer that the member `glucoport` states; nil if it is invalid.
  package init?(_ own: JSONValue?) {
    guard let node = own?["node"]?.text, let run = own?["run"]?.text else { return nil }
    self.init(node: node, run: run)
  }

  var members: [String: JSONValue] { ["node": .text(node), "run": .text(run)] }
}
