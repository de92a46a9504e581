// SPDX-License-Identifier: Apache-2.0

extension RecordFields {
  /// Why these cannot be the fields of an attachment; nil where they can. The name and the media type are texts, the size
  /// is a whole number of bytes, and `sha256` has 64 lower-case hexadecimal digits.
  public var attachmentFault: String? {
    for name in ["name", "type"] {
      guard case .text? = values[name] else { return "the '\(name)' of an attachment that is no text" }
    }
    guard case .number(let size)? = values["size"], let bytes = Int64(exactly: size), bytes >= 0 else {
      return "the 'size' of an attachment that is no whole number of bytes"
    }
    guard case .text(let digest)? = values["sha256"], AttachmentContent.isDigest(digest) else {
      return "the 'sha256' of an attachment that is no SHA-256 in 64 lower-case hexadecimal digits"
    }
    return nil
  }
}
