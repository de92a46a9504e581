// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The setting `attachment-limit`: the maximum size of an attachment in bytes, on whichever node it was
/// attached.
extension Store {
  /// The same limit as a glucoport server has.
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
