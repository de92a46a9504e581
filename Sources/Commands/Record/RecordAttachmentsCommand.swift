// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogbookStore

/// `glucoport record attachments`: the files of an entry.
struct RecordAttachmentsCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "attachments", abstract: "List the files that are attached to an entry.",
    discussion: helpText(
      "'glucoport show ID --save FILE' writes one of them to a file.",
      examples: "glucoport record attachments 8120",
      "glucoport record attachments 8120 --json"))

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of the entry or of one attachment, or its first characters.")
  var id: String

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    for attachment in try store.attachments(of: store.record(named: id).guid) {
      try output.result(
        asJSON: json, AttachmentObject(attachment), orLines: [AttachmentText.line(attachment)])
    }
    try output.finish()
  }
}
