// SPDX-License-Identifier: Apache-2.0

/// Determines the type of a content from its first bytes or its name.
enum ContentType {
  /// The number of bytes that are examined.
  static let headBytes = 512
  static let unknown = "application/octet-stream"

  /// First bytes that no other type has. They have priority over the name.
  private static let signatures: [(bytes: [UInt8], type: String)] = [
    (Array("%PDF-".utf8), "application/pdf"),
    ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"),
    ([0xFF, 0xD8, 0xFF], "image/jpeg"),
    (Array("GIF87a".utf8), "image/gif"), (Array("GIF89a".utf8), "image/gif"),
    ([0x1F, 0x8B], "application/gzip"),
    (Array("SQLite format 3\0".utf8), "application/vnd.sqlite3"),
  ]

  private static let extensions = [
    "pdf": "application/pdf", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
    "gif": "image/gif", "webp": "image/webp", "heic": "image/heic", "svg": "image/svg+xml",
    "mp3": "audio/mpeg", "m4a": "audio/mp4", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
    "csv": "text/csv", "txt": "text/plain", "md": "text/markdown", "html": "text/html",
    "json": "application/json", "xml": "application/xml", "zip": "application/zip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
  ]

  /// The media type of a content with these first bytes.
  static func of(head: [UInt8], name: String) -> String {
    if let found = signatures.first(where: { head.starts(with: $0.bytes) }) { return found.type }
    if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WEBP".utf8)) {
      return "image/webp"
    }
    let parts = name.lowercased().split(separator: ".", omittingEmptySubsequences: false)
    if parts.count > 1, let type = extensions[String(parts[parts.count - 1])] { return type }
    if head.starts(with: [0x50, 0x4B, 0x03, 0x04]) { return "application/zip" }
    return isText(head) ? "text/plain" : unknown
  }

  private static func isText(_ head: [UInt8]) -> Bool {
    guard !head.isEmpty, head.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }) else {
      return false
    }
    // The last character may be truncated.
    return (0..<min(4, head.count)).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
  }
}
