// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook

/// `glucoport formats`: the export formats that import reads, or everything about one of them.
struct FormatsCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "formats",
    abstract: "List the export formats that import reads, in the order of detection, or describe one.",
    discussion: helpText(
      examples: "glucoport formats",
      "glucoport formats glooko"))

  @Argument(
    help: "Describe this format: how to get the export, its variants and languages, what is imported.",
    completion: .list(ExportRegister.all.map(\.id)))
  var name: String?

  @Flag(help: "Print one JSON object per line.")
  var json = false

  private var format: ExportFormatInfo? { ExportRegister.all.first { $0.id == name } }

  func validate() throws {
    if let name, format == nil { throw FormatName.unknown(name) }
  }

  func run() throws {
    let output = Output()
    if let format {
      try output.result(asJSON: json, FormatPageObject(format), orLines: FormatText.lines(format))
    } else {
      for format in ExportRegister.all {
        try output.result(
          asJSON: json, FormatObject(id: format.id, title: format.title, summary: format.summary),
          orLines: [FormatText.line(format)])
      }
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

/// The name of a format as a person types it.
enum FormatName {
  /// The error for a name, with the formats that were probably meant.
  static func unknown(_ name: String) -> ValidationError {
    let near = near(name)
    let advice = near.isEmpty ? "" : "did you mean \(alternatives(near))? "
    return ValidationError("Unknown format '\(name)'; \(advice)'glucoport formats' lists the formats.")
  }

  /// Formats with this id in other letters, else with this word in their id or title, else with the most
  /// similar id.
  private static func near(_ name: String) -> [String] {
    let meant = name.lowercased().replacing(" ", with: "-")
    let all = ExportRegister.all
    if all.contains(where: { $0.id == meant }) { return [meant] }
    let part = meant.replacing("-", with: " ")
    let parts = all.filter { format in
      [format.id, format.title].contains { $0.lowercased().replacing("-", with: " ").contains(part) }
    }
    if part.count > 2, !parts.isEmpty, parts.count <= 4 { return parts.map(\.id) }
    return NearestWord.of(meant, among: all.map(\.id)).map { [$0] } ?? []
  }
}
