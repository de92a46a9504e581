// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Writes the content of an attachment to a file, or queues its download for the person who asked for it.
struct AttachmentSaving {
  let options: StoreOptions
  /// The file, or `-`.
  let target: String
  /// Whether an existing file is replaced.
  let replaces: Bool

  func save(_ id: String, _ output: Output) throws {
    let store = try options.open(.reader)
    let record = try store.record(named: id)
    guard
      let attachment = try store.attachments(of: record.guid).first(where: { $0.record.guid == record.guid })
    else {
      throw Failure(
        .usage,
        "\(displayed(id)): not an attachment; 'glucoport record attachments' lists those of an entry")
    }
    guard attachment.isWhole else { return try want(attachment) }
    if target == "-" {
      try write(attachment, of: store) { output.bytes($0) }
    } else {
      let protected = ProtectedFiles(store: store.path, remote: try store.remote())
      try SavedFile(path: target, replaces: replaces, protected: protected).write { sink in
        try write(attachment, of: store, sink)
      }
    }
  }

  private func write(
    _ attachment: StoredAttachment, of store: Store, _ sink: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard try store.readContent(attachment.digest, sink) else {
      throw Failure(
        .inputOutput,
        "\(store.path): the content of this attachment is damaged: it does not match its SHA-256; restore it from a backup"
      )
    }
  }

  private func want(_ attachment: StoredAttachment) throws {
    guard AttachmentContent.isDigest(attachment.digest) else {
      throw Failure(
        .badInput, "\(attachment.record.guid): this attachment names no content, so nothing can be downloaded"
      )
    }
    try options.open(.editor).wantContent(attachment.digest, at: Host.now())
    throw Failure(
      .temporary,
      "\(displayed(attachment.name)): its content is not downloaded yet; 'glucoport upload' downloads it first"
    )
  }
}
