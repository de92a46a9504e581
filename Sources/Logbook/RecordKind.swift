// SPDX-License-Identifier: Apache-2.0

/// The kind of a record: a word of 1 to 32 lower-case letters and hyphens. Stores and servers accept every such word. A
/// kind that this program does not know comes from a newer version. It is stored and synced, but not listed or edited.
public struct RecordKind: RawRepresentable, Hashable, Sendable {
  /// The word in exports, in stores and in the protocol.
  public let rawValue: String

  /// The kind with this word; nil for an invalid word.
  public init?(rawValue: String) {
    guard (1...32).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isPart) else { return nil }
    self.rawValue = rawValue
  }

  /// A kind that this program describes.
  init(known word: String) { rawValue = word }

  /// The kinds that this program knows, in the order in which people see them.
  public static let known = RecordKindDescription.all.map(\.kind)

  /// The known kinds that are in lists and views.
  public static let listed = RecordKindDescription.all.filter(\.isListed).map(\.kind)

  /// The description of the kind; nil for a kind of a newer version.
  public var details: RecordKindDescription? { RecordKindDescription.byKind[self] }

  /// Its known fields; empty for a kind of a newer version.
  public var fields: [RecordField] { details?.fields ?? [] }

  private static func isPart(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") || byte == UInt8(ascii: "-")
  }
}

extension RecordKind: CustomStringConvertible {
  /// The word.
  public var description: String { rawValue }
}
