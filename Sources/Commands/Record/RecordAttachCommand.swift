// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport record attach`: stores files with an entry.
struct RecordAttachCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Attach files to an entry.",
    discussion: helpText(
      """
      The files are copied into the store, all of them or none; you can remove the originals \
      afterwards. Equal content is stored and sent once.
      """,
      examples: "glucoport record attach 8120 lab-report.pdf",
      "pdftoppm -png scan.pdf | glucoport record attach 8120 - --name scan.png"))

  /// The maximum length of a file name in file systems, in bytes.
  private static let maxNameBytes = 255

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the entry, or its first characters.")
  var id: String

  @Argument(help: ArgumentHelp("The files; - is standard input.", valueName: "file"))
  var files: [PathArgument]

  @Option(help: ArgumentHelp("The name to store for a single file.", valueName: "name"))
  var name: String?

  @OptionGroup var pushOption: PushOption
  @OptionGroup var result: RecordOutputOptions

  func validate() throws {
    if name != nil, files.count != 1 { throw ValidationError("--name is for a single file.") }
    if files.contains(where: { $0.path == "-" }), name == nil || files.count > 1 {
      throw ValidationError("Standard input needs a --name, and must be the only file.")
    }
    if let name, name.isEmpty || name.utf8.count > Self.maxNameBytes {
      throw ValidationError("A name must have 1 to \(Self.maxNameBytes) bytes.")
    }
  }

  func run() async throws {
    let output = Output()
    Host.keepFilesPrivate()
    let store = try storeOptions.open(.editor)
    let entry = try store.record(named: id)
    let limit = try store.attachmentLimit()
    let intake = try ContentIntake(store)
    let (time, placement) = TimeArgument.now.placed(zone: try store.timezone(), now: Host.now())
    // Contents that are attached at the same time are sent in the order of their ids.
    let guids = files.map { _ in Host.randomUUID() }.sorted()
    let drafts = try zip(files, guids).map { path, guid in
      let file = try AttachedFile(path.path)
      let (content, head) = try file.read(into: intake, limit: limit)
      let name = name ?? file.name
      var draft = RecordDraft(
        kind: .attachment, at: time, placement: placement,
        fields: RecordFields([
          "name": .text(name), "type": .text(ContentType.of(head: head, name: name)),
          "size": .number(Double(content.size)), "sha256": .text(content.digest),
        ]))
      draft.entryGuid = entry.guid
      return (draft, guid)
    }
    let edits = try RecordEditor(store, at: Host.now()).attach(drafts, intake)
    for edit in try await pushOption.attempt(edits, in: store, storeOptions, output, isQuiet: result.quiet) {
      try result.show("attached", edit, store, output)
    }
    try output.finish()
  }
}
