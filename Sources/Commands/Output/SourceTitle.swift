// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook

/// How people know a source.
enum SourceTitle {
  /// The title of its format, with the program or the device within it: `Apple Health (Anna's iPhone)`.
  static func text(_ source: CountingSource) -> String {
    let title = format(source.format)
    let part = displayed(source.part)
    if part.isEmpty || part == title { return title }
    // The name of a device says where its readings are from; a format of many devices says no more.
    return source.role == .memory ? part : "\(title) (\(part))"
  }

  /// The product of a format, which is the start of its title; the id of a driver.
  static func format(_ id: String) -> String {
    guard let title = ExportRegister.all.first(where: { $0.id == id })?.title else {
      return id.isEmpty ? "an unknown source" : displayed(id)
    }
    return title.split(separator: " ").prefix { !forms.contains(String($0)) }.joined(separator: " ")
  }

  /// The words of titles with which the form of a file begins.
  private static let forms: Set<String> = [
    "CSV", "JSON", "JSON,", "Observations", "TSV", "XML", "and", "backup", "dump", "export.xml", "or",
    "report",
    "sheets",
  ]
}
