// SPDX-License-Identifier: Apache-2.0

import GRDB

/// The setting `attachment-limit`: how many bytes the content of an attachment may have, whoever attached it.
extension Store {
  /// As much as a server of glucoport takes.
  static let defaultAttachmentLimit: Int64 = 25 << 20

  /// The most bytes of an attachment.
  package func attachmentLimit() throws -> Int64 { try read(Self.attachmentLimit) }

  /// Sets the most bytes of an attachment.
  package func setAttachmentLimit(_ bytes: Int64) throws {
    try write { try Self.set(.attachmentLimit, String(bytes), $0) }
  }

  static func attachmentLimit(_ database: Database) throws -> Int64 {
    try value(of: .attachmentLimit, database) { Int64($0) } ?? defaultAttachmentLimit
  }
}
