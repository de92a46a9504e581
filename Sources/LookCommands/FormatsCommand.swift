// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook

/// The command `formats`, which lists the export formats that `import` reads, or describes one of them.
struct FormatsCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "formats",
    "List the export formats that import reads, in the order of detection, or describe one.",
    examples: "glucoport formats", "glucoport formats glooko")

  @Argument(
    help: "Describe this format: how to get the export, its variants and languages, what is imported.",
    completion: .list(FormatRegister.all.map(\.id)))
  var name: String?

  @Flag(help: "Print one JSON object per line.")
  var json = false

  private var format: ExportFormatInfo? { FormatRegister.all.first { $0.id == name } }

  func validate() throws {
    if let name, format == nil { throw FormatName.unknown(name) }
  }

  func run(_ output: Output) throws {
    if let format {
      try output.result(asJSON: json, FormatPageObject(format), orLines: FormatText.lines(format))
    } else {
      for format in FormatRegister.all {
        try output.result(
          asJSON: json, FormatObject(id: format.id, title: format.title, summary: format.summary),
          orLines: [FormatText.line(format)])
      }
    }
  }
}

/// A format, as `formats --json` prints it; glucoport-json(5) documents its members.
private struct FormatObject: Encodable {
  let id: String
  let title: String
  let summary: String
}

/// Describes formats as text.
enum FormatText {
  private static let columns = 78

  /// The line for a format in the list of all formats.
  static func line(_ format: ExportFormatInfo) -> String {
    let blanks = String(repeating: " ", count: max(1, 15 - format.id.count))
    return "\(format.id)\(blanks)\(format.title): \(format.summary)"
  }

  /// The complete description of a format.
  static func lines(_ format: ExportFormatInfo) -> [String] {
    let page = format.page
    let parts = [
      ("how to get it", page.origin), ("variants", page.variants), ("languages", [page.languages]),
      ("imported", page.reads), ("not imported", page.notRead),
    ]
    return ["\(format.id): \(format.title)"]
      + parts.flatMap { title, items in [title] + items.flatMap(indented) }
  }

  /// The lines of a text for a terminal. All lines after the first are indented further.
  private static func indented(_ text: String) -> [String] {
    var lines: [String] = []
    var line = " "
    for word in text.split(separator: " ") {
      if line.count + 1 + word.count > columns, line.contains(where: { $0 != " " }) {
        lines.append(line)
        line = "   "
      }
      line += " " + word
    }
    return lines + [line]
  }
}

/// The complete description of a format, as `formats NAME --json` prints it; glucoport-json(5) documents its
/// members.
struct FormatPageObject: Encodable {
  let id: String
  let title: String
  let summary: String
  let origin: [String]
  let variants: [String]
  let languages: String
  let imported: [String]
  let notImported: [String]

  init(_ format: ExportFormatInfo) {
    (id, title, summary) = (format.id, format.title, format.summary)
    let page = format.page
    (origin, variants, languages) = (page.origin, page.variants, page.languages)
    (imported, notImported) = (page.reads, page.notRead)
  }
}
