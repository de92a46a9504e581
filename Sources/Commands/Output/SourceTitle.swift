// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook

/// The name of a source for people.
enum SourceTitle {
  /// The title of its format, with the program or the device within it: `Apple Health (Anna's iPhone)`.
  static func text(_ source: CountingSource) -> String {
    let title = format(source.format)
    let part = displayed(source.part)
    if part.isEmpty || part == title { return title }
    // The name of a device identifies the source of its readings. The format, which many devices use, adds
    // nothing.
    return source.role == .memory ? part : "\(title) (\(part))"
  }

  /// The product of a format, which is the start of its title; for a driver, its id.
  static func format(_ id: String) -> String {
    guard let title = ExportRegister.all.first(where: { $0.id == id })?.title else {
      return id.isEmpty ? "an unknown source" : displayed(id)
    }
    return title.split(separator: " ").prefix { !forms.contains(String($0)) }.joined(separator: " ")
  }

  /// The first words of titles that describe the form of a file.
  private static let forms: Set<String> = [
    "CSV", "JSON", "JSON,", "Observations", "TSV", "XML", "and", "backup", "dump", "export.xml", "or",
    "report",
    "sheets",
  ]
}
