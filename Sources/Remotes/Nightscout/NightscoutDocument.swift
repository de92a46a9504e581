// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

/// The two collections that hold what a store holds.
enum NightscoutCollection: String, Codable, Sendable {
  case entries, treatments

  /// The member by which documents are placed in time. Treatments of API v1 have no `date`.
  var timeName: String { self == .entries ? "date" : "created_at" }
}

/// A document as API v3 shows it, whoever wrote it.
struct NightscoutDocument: Hashable, Sendable {
  /// The member under which all that is ours stands.
  static let ownName = "glucoport"
  /// Who wrote a document, as every document has to say.
  static let app = "glucoport"
  /// Longer ones, as a path holds them, would not fit into a revision; no known program makes them.
  static let longestIdentifier = 100

  /// More than anybody types; a record holds no text of any length.
  private static let longestText = 64 << 10

  let members: JSONValue
  /// The document's key; of one that API v1 made, its `_id`.
  let identifier: String

  /// Nil for what has no key that a path could hold.
  init?(_ members: JSONValue) {
    guard let identifier = members["identifier"]?.text, !identifier.isEmpty,
      Self.escaped(identifier).utf8.count <= Self.longestIdentifier
    else { return nil }
    self.members = members
    self.identifier = identifier
  }

  subscript(name: String) -> JSONValue? { members[name] }

  /// What is ours in it; nil in what others wrote.
  var own: JSONValue? { members[Self.ownName] }

  var isDeleted: Bool { members["isValid"] == .flag(false) }

  /// The event's time in milliseconds, with the offset where its text states one. A text without an offset counts where
  /// no other member says the instant.
  var instant: (milliseconds: Int64, offset: Int32?)? {
    let found = ["created_at", "date", "timestamp", "mills"].compactMap { name in
      NightscoutTime.instant(members[name]).map { (instant: $0, isNumber: members[name]?.number != nil) }
    }
    return (found.first { $0.isNumber || $0.instant.offset != nil } ?? found.first)?.instant
  }

  /// When the server stored it; nil for what only API v1 touched: its documents have no such mark, and a search shows
  /// the event's time in its place.
  var modified: Int64? {
    guard let modified = members["srvModified"]?.integer, NightscoutTime.isPossible(modified) else {
      return nil
    }
    let times = [members["date"], members["created_at"]].compactMap {
      NightscoutTime.instant($0)?.milliseconds
    }
    return times.contains(modified) ? nil : modified
  }

  /// What an API v1 writer may have changed although `srvModified` stayed: everything, but for what the server itself
  /// writes.
  var digest: String {
    guard case .object(var all) = members else { return "" }
    for name in ["srvModified", "srvCreated", "modifiedBy", "subject"] { all[name] = nil }
    return Self.digest(JSONValue.object(all).json)
  }

  /// Twelve hexadecimal digits, enough to tell states of one document apart.
  static func digest(_ text: String) -> String {
    var digest = Digest()
    digest.update(text)
    return String(digest.hexadecimal().prefix(12))
  }

  /// An identifier as a path takes it: a dot would be read as the start of a file's extension.
  static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        String(UnicodeScalar(byte))
      default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }

  /// A text that has to come back as it is, whoever rewrites the document by API v1: that one takes a `<` for HTML.
  static func sealed(_ text: String) -> JSONValue {
    guard text.contains("<") else { return .text(text) }
    return .object(["base64": .text(Data(text.utf8).base64EncodedString())])
  }

  /// The text of a sealed one; nil for what is none.
  static func opened(_ value: JSONValue?) -> String? {
    if let text = value?.text { return text }
    guard let bytes = value?["base64"]?.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// A text of a person as a record can hold it.
  static func bounded(_ text: String) -> String {
    let text = text.replacing("\0", with: " ")
    guard text.utf8.count > longestText else { return text }
    return String(decoding: text.utf8.prefix(longestText), as: UTF8.self)
  }

  /// A text as API v1 keeps it, with the signs back that it replaces. It reads a text with a `<` in it as HTML and writes
  /// it anew, so that signs are escaped; any other text stays as it was typed.
  static func unescaped(_ text: String) -> String {
    guard text.contains("&lt;") || text.contains("<") else { return text }
    return [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", "\u{A0}"), ("&amp;", "&"),
    ]
    .reduce(text) { $0.replacing($1.0, with: $1.1) }
  }
}
