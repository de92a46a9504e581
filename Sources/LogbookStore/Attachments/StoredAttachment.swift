// SPDX-License-Identifier: Apache-2.0

import GRDB
import Logbook
import SQLiteRows

/// A record of an attachment, and how much of its content is in this store and on the remote.
package struct StoredAttachment: Sendable {
  package let record: StoredRecord
  /// The name of the attached file, as it was given; never a path. Empty if the record states none.
  package let name: String
  /// The media type; empty if the record states none.
  package let type: String
  /// The size in bytes that the record states; 0 if it states none.
  package let size: Int64
  /// The SHA-256 of the content; empty if the record states none.
  package let digest: String
  /// The number of bytes of the content in this store.
  package let held: Int64
  /// Whether the store has the complete content.
  package let isWhole: Bool
  /// Whether the remote has the complete content.
  package let isUploaded: Bool
  /// Why the content is no longer sent or fetched; nil if nothing was refused.
  package let refusal: String?

  /// The SQL columns of an attachment. Another node can write any values into the fields of a record. A field
  /// whose value has a wrong type counts as missing.
  static let columns = """
    \(StoredRecord.columns), \(StoredField.text("name")), \(StoredField.text("type")), \(StoredField.bytes("size")),
    \(StoredField.digest), coalesce(blob.held, 0), coalesce(blob.held = blob.size, 0), coalesce(blob.uploaded, 0),
    coalesce(blob.refusal, (SELECT download.refusal FROM download
      WHERE download.kind = 'attachment' AND subject = \(StoredField.digest)))
    """

  init(_ row: Row) throws {
    record = try StoredRecord(row)
    let first = row.count - 8
    let row = StoredRow(row, of: "record")
    name = try row[first]
    type = try row[first + 1]
    size = try row[first + 2]
    digest = try row[first + 3]
    held = try row[first + 4]
    isWhole = try row[first + 5]
    isUploaded = try row[first + 6]
    refusal = try row[first + 7]
  }
}

/// The attachment in `record attachments --json`.
extension StoredAttachment: Encodable {
  private enum CodingKeys: String, CodingKey {
    case guid, entryGuid, name, type, size, sha256, content, held, uploaded, refused
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(record.guid, forKey: .guid)
    try container.encode(record.entryGuid, forKey: .entryGuid)
    try container.encode(name, forKey: .name)
    try container.encode(type, forKey: .type)
    try container.encode(size, forKey: .size)
    try container.encode(digest, forKey: .sha256)
    try container.encode(isWhole ? "whole" : "missing", forKey: .content)
    try container.encode(held, forKey: .held)
    try container.encode(isUploaded, forKey: .uploaded)
    try container.encode(refusal, forKey: .refused)
  }
}

extension Store {
  /// The attachments of the entry with this guid, in the order in which they were attached. If the guid is
  /// that of an attachment, returns only this attachment.
  package func attachments(of guid: String) throws -> [StoredAttachment] {
    try read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT \(StoredAttachment.columns) FROM record
          LEFT JOIN blob ON blob.digest = \(StoredField.digest)
          WHERE record.kind = 'attachment' AND record.deleted = 0 AND (record.entry_guid = ?1 OR record.guid = ?1)
          ORDER BY coalesce(record.edited_at, record.device_time), record.guid
          """, arguments: [guid]
      ).map(StoredAttachment.init)
    }
  }

  /// Passes the bytes of a complete content part by part to `work`. Returns whether they have the content's
  /// digest.
  package func readContent(
    _ digest: String, _ work: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    try read { database in
      var sum = Digest()
      try ContentParts(database: database, digest: digest).forEach { bytes in
        sum.update(bytes)
        try work(bytes)
      }
      return sum.hexadecimal() == digest
    }
  }
}

/// The setting `attachment-limit`: the maximum size of one attachment in bytes. It applies to attachments of
/// every node.
extension Store {
  /// The default, 25 MiB, which is also the limit of a glucoport server.
  static let defaultAttachmentLimit: Int64 = 25 << 20

  /// The maximum size of an attachment in bytes.
  package func attachmentLimit() throws -> Int64 { try read(Self.attachmentLimit) }

  /// Sets the maximum size of an attachment in bytes.
  package func setAttachmentLimit(_ bytes: Int64) throws {
    try write { try Self.set(.attachmentLimit, String(bytes), $0) }
  }

  static func attachmentLimit(_ database: Database) throws -> Int64 {
    try value(of: .attachmentLimit, database) { Int64($0) } ?? defaultAttachmentLimit
  }
}
