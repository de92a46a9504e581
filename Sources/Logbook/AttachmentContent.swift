// SPDX-License-Identifier: Apache-2.0

/// The content of attachments, by what identifies it: equal content is one content, whatever it is called.
package struct AttachmentContent: Hashable, Sendable {
  /// SHA-256 of the bytes, in 64 lower-case hexadecimal digits.
  package var digest: String
  /// How many bytes there are.
  package var size: Int64

  /// A content with this digest and size.
  package init(digest: String, size: Int64) {
    self.digest = digest
    self.size = size
  }

  /// Whether a text can be the digest of a content.
  package static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}

/// How much one side has of a content.
package struct HeldContent: Hashable, Sendable {
  /// The bytes held, from the first on.
  package var bytes: Int64
  /// How many there are to be; nil where that is unknown.
  package var size: Int64?
  /// Whether all are there, and have the digest.
  package var isWhole: Bool { bytes == size }

  /// So many bytes of so many.
  package init(bytes: Int64 = 0, size: Int64? = nil) {
    self.bytes = bytes
    self.size = size
  }
}

/// What a service answers to a part of a content.
package enum ContentAnswer: Hashable, Sendable {
  /// So much is held after it. A content that is whole accepts no part and stays.
  case holds(HeldContent)
  /// The part does not begin where the content ends: nothing was stored.
  case misplaced(HeldContent)
  /// With this part the content was whole, did not have its digest, and was dropped.
  case wrongDigest
  /// The logbook holds as much content as it may: nothing was stored. The service's words say how much that is.
  case full(String)
}

/// A part of a content, as a service returns it.
package struct ContentPart: Hashable, Sendable {
  /// How many bytes the whole content has.
  package var size: Int64
  /// The bytes from the requested offset on.
  package var bytes: [UInt8]

  /// A part of a content of so many bytes.
  package init(size: Int64, bytes: [UInt8]) {
    self.size = size
    self.bytes = bytes
  }
}
