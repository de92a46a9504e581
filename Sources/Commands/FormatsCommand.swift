// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook

/// `glucoport formats`: the export formats that import reads.
struct FormatsCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "formats", abstract: "List the export formats that import reads, in the order of detection.")

  @Flag(help: "Print one JSON object a line.")
  var json = false

  func run() throws {
    let output = Output()
    for format in ExportRegister.all {
      if json {
        output.line(
          "{\"id\":\(jsonText(format.id)),\"title\":\(jsonText(format.title)),\"summary\":\(jsonText(format.summary))}"
        )
      } else {
        let blanks = String(repeating: " ", count: max(1, 15 - format.id.count))
        output.line("\(format.id)\(blanks)\(format.title): \(format.summary)")
      }
    }
    try output.finish()
  }
}
