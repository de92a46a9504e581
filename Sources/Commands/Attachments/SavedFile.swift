// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import LogbookStore
import TemporaryFiles

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

/// A file that appears under its name whole, with the mode 0600, or not at all. Only a regular file is replaced. Of a
/// symbolic link the file is replaced to which it leads.
struct SavedFile {
  let path: String
  /// Whether an existing file is replaced.
  let replaces: Bool
  /// Files that are never replaced.
  let protected: ProtectedFiles

  /// Writes the bytes from the closure.
  ///
  /// - Throws: `Failure`: `cannotCreate`, also if a file exists that must not be replaced, such as a device;
  ///   `inputOutput`. Also errors of the closure.
  func write(_ fill: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
    try refuseExisting()
    let file = try NamedFile(target + ".", orFailWith: "\(displayed(path)): cannot be created")
    let temporary = PathText.bytes(file.path)
    do {
      defer { close(file.descriptor) }
      try fill { try send($0, to: file.descriptor) }
      guard fsync(file.descriptor) == 0 else { throw failure(.inputOutput, "cannot be written") }
      try place(temporary)
    } catch {
      unlink(temporary)
      throw error
    }
  }
}

extension SavedFile {
  private var existing: Failure {
    Failure(.cannotCreate, "\(displayed(path)): File exists; replace it with --force")
  }

  /// The path that gets the file: the target of a symbolic link that leads to an existing file.
  private var target: String { replaces ? PathText.real(path) ?? path : path }

  private func refuseExisting() throws {
    try protected.refuse(path)
    var status = stat()
    if !replaces, lstat(PathText.bytes(path), &status) == 0 { throw existing }
    // A rename would replace even a device of the system by the output.
    if stat(PathText.bytes(path), &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw Failure(
        .cannotCreate, "\(displayed(path)): not a regular file; choose another file for the output")
    }
  }

  /// Gives the complete file its name. A link does not replace a file that was created meanwhile.
  private func place(_ temporary: [CChar]) throws {
    // Writing takes a while, in which a store may have been created there.
    try refuseExisting()
    if replaces {
      guard rename(temporary, PathText.bytes(target)) == 0 else {
        throw failure(.cannotCreate, "cannot be created")
      }
      return
    }
    if link(temporary, PathText.bytes(path)) == 0 {
      unlink(temporary)
      return
    }
    guard errno != EEXIST else { throw existing }
    // Some file systems have no links, such as those of memory cards.
    guard errno == EPERM || errno == ENOTSUP, rename(temporary, PathText.bytes(path)) == 0 else {
      throw failure(.cannotCreate, "cannot be created")
    }
  }

  private func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = uninterrupted { Glibc.write(descriptor, rest.baseAddress, rest.count) }
      guard count > 0 else { throw failure(.inputOutput, "cannot be written") }
      sent += count
    }
  }

  private func failure(_ category: FailureCategory, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES ? .permission : category,
      "\(displayed(path)): \(what): \(String(cString: strerror(reason)))")
  }
}
