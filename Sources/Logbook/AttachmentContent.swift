// SPDX-License-Identifier: Apache-2.0

/// The content of attachments, identified by its digest. Files with equal bytes have one content, whatever
/// their names.
package struct AttachmentContent: Hashable, Sendable {
  /// SHA-256 of the bytes, in 64 lower-case hexadecimal digits.
  package var digest: String
  /// The number of bytes.
  package var size: Int64

  /// A content with this digest and size.
  package init(digest: String, size: Int64) {
    self.digest = digest
    self.size = size
  }

  /// Whether a text has the format of `digest`: 64 lower-case hexadecimal digits.
  package static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}

/// How many bytes of an attachment's content the store or the service has.
package struct HeldContent: Hashable, Sendable {
  /// The number of bytes that are held. They are the first bytes of the attachment's content.
  package var bytes: Int64
  /// The size of the whole content; nil if unknown.
  package var size: Int64?
  /// Whether all bytes are held and match the digest.
  package var isWhole: Bool { bytes == size }

  /// A content of `size` bytes. Its first `bytes` bytes are held.
  package init(bytes: Int64 = 0, size: Int64? = nil) {
    self.bytes = bytes
    self.size = size
  }
}

/// A service's answer to an uploaded part of an attachment's content.
package enum ContentAnswer: Hashable, Sendable {
  /// After the request, the service holds these bytes of the attachment's content. If the content was already
  /// whole, the part was ignored.
  case holds(HeldContent)
  /// The part does not begin where the held content ends. Nothing was stored.
  case misplaced(HeldContent)
  /// The content was complete with this part, but did not match its digest. The service deleted it.
  case wrongDigest
  /// The logbook has reached its limit for the contents of all attachments. Nothing was stored. The text is
  /// the service's message with the limit.
  case full(String)
}

/// A part of an attachment's content, as a service returns it.
package struct ContentPart: Hashable, Sendable {
  /// The size of the whole content in bytes.
  package var size: Int64
  /// The bytes from the requested offset on.
  package var bytes: [UInt8]

  /// A part of an attachment's content whose whole size is `size`.
  package init(size: Int64, bytes: [UInt8]) {
    self.size = size
    self.bytes = bytes
  }
}
