// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// The command `show`, which prints everything about one reading or record.
struct ShowCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "show", "Show everything about one reading or record.",
    """
    'list --long' shows the ids. The id of a record may be shortened to its first \
    characters.
    """,
    examples: "glucoport show 8120", "glucoport show 8a0c --save lab-report.pdf")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of a reading or record.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Write the content of an attachment to this file; - is standard output.", valueName: "file"))
  var save: PathArgument?

  @Flag(help: "With --save: replace an existing file.")
  var force = false

  func validate() throws {
    if save == nil, force { throw ValidationError("--force needs --save.") }
    if save != nil, json {
      throw ValidationError("Use only one of --save and --json.")
    }
    if save?.path == "" { throw ValidationError("--save needs the name of a file.") }
  }

  func run(_ output: Output) throws {
    if let save {
      try AttachmentSaving(options: storeOptions, target: save.path, replaces: force).save(id, output)
      return
    }
    let store = try storeOptions.open(.reader)
    let item: StoredItem =
      if let reading = try store.reading(at: id) { .reading(reading) } else {
        .record(try store.record(named: id))
      }
    try ItemDetails(store).write(item, asJSON: json, output)
  }
}

/// Writes the content of an attachment to a file. If the store lacks the content, its download is queued
/// instead.
struct AttachmentSaving {
  let options: StoreOptions
  /// The path of the file, or `-` for standard output.
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
      try write(attachment, of: store) { output.write($0) }
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
