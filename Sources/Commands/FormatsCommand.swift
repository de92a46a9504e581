// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook

/// `glucoport formats`: the export formats that import reads.
struct FormatsCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "formats", abstract: "List the export formats that import reads, in the order of detection.",
    discussion: helpText(
      examples: "glucoport formats",
      "glucoport formats --json"))

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run() throws {
    let output = Output()
    for format in ExportRegister.all {
      let blanks = String(repeating: " ", count: max(1, 15 - format.id.count))
      try output.result(
        asJSON: json, FormatObject(id: format.id, title: format.title, summary: format.summary),
        orLines: ["\(format.id)\(blanks)\(format.title): \(format.summary)"])
    }
    try output.finish()
  }
}

/// A format, as `formats --json` prints it; glucoport-json(5) documents its members.
private struct FormatObject: Encodable {
  let id: String
  let title: String
  let summary: String
}
