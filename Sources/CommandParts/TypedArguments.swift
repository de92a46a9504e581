// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import Formats
import Logbook
import Meters
import Remotes
import Report

/// A number of bytes on the command line, optionally with `KiB`, `MiB` or `GiB`.
package struct ByteCountArgument: ExpressibleByArgument {
  private static let units: [(word: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
  ]

  package let bytes: Int64

  /// Reads a number of bytes, with or without a unit; nil if the text is not valid.
  package init?(argument: String) {
    let unit = Self.units.first { argument.hasSuffix($0.word) }
    let digits = argument.dropLast(unit?.word.count ?? 0)
    guard (1...9).contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    bytes = number * (unit?.bytes ?? 1)
  }

  /// A number of bytes as it can be typed on the command line, without rounding. It uses the largest unit in
  /// which the number is whole.
  package static func text(_ bytes: Int64) -> String {
    let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 } ?? ("B", 1)
    return "\(bytes / unit.bytes)\(unit.word)"
  }

  /// A number of bytes for people, rounded to one decimal of its unit: `1.5 MiB`.
  package static func rounded(_ bytes: Int64) -> String {
    guard let unit = units.first(where: { bytes >= $0.bytes && $0.bytes > 1 }) else { return "\(bytes) B" }
    let tenths = (bytes * 10 + unit.bytes / 2) / unit.bytes
    return "\(tenths / 10).\(tenths % 10) \(unit.word)"
  }
}

/// The names of formats as people type them.
package enum FormatName {
  /// The error for an unknown name. It suggests the formats that were probably meant.
  package static func unknown(_ name: String) -> ValidationError {
    let near = near(name)
    let advice = near.isEmpty ? "" : "did you mean \(alternatives(near))? "
    return ValidationError("Unknown format '\(name)'; \(advice)'glucoport formats' lists the formats.")
  }

  /// The formats that were probably meant. They have this id in other letter case, else this word in their id
  /// or title, else the most similar id.
  private static func near(_ name: String) -> [String] {
    let meant = name.lowercased().replacing(" ", with: "-")
    let all = FormatRegister.all
    if all.contains(where: { $0.id == meant }) { return [meant] }
    let part = meant.replacing("-", with: " ")
    let parts = all.filter { format in
      [format.id, format.title].contains { $0.lowercased().replacing("-", with: " ").contains(part) }
    }
    if part.count > 2, !parts.isEmpty, parts.count <= 4 { return parts.map(\.id) }
    return NearestWord.of(meant, among: all.map(\.id)).map { [$0] } ?? []
  }
}

/// The file formats in which `report` writes its page.
package enum ReportForm: String, ExpressibleByArgument, CaseIterable {
  case html, pdf

  /// The file format that the suffix of a file name means; nil for any other suffix.
  package init?(nameOf path: String) {
    switch path.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() {
    case "html"?, "htm"?, "xhtml"?: self = .html
    case "pdf"?: self = .pdf
    default: return nil
    }
  }

  /// The letters that the font of the PDF lacks, as a message lists them; nil if there are none. At most 20
  /// are listed.
  package static func list(_ missing: [Character]) -> String? {
    missing.isEmpty ? nil : missing.prefix(20).map { "'\($0)'" }.joined(separator: ", ")
  }

  /// The name of the file format with its article, for a message.
  package var title: String {
    switch self {
    case .html: "an HTML"
    case .pdf: "a PDF"
    }
  }
}

/// The values with which a shell completes options and arguments that accept one value of a list.
extension CompletionKind {
  /// Completes the ids of the formats.
  package static var formats: CompletionKind { .list(FormatRegister.all.map(\.id)) }

  /// Completes the ids of the meter drivers.
  static var drivers: CompletionKind { .list(DriverRegister.all.map { $0.id }) }

  /// Completes the kinds of remotes.
  package static var remoteKinds: CompletionKind { .list(RemoteRegister.all.map { $0.id }) }

  /// Completes the codes of the languages of the report.
  package static var languages: CompletionKind { .list(PageTexts.all.map(\.code)) }

  /// Completes the names of target ranges.
  package static var targets: CompletionKind { .list(Targets.named.map(\.name)) }

  /// Completes the subtypes of all kinds of records.
  package static var subtypes: CompletionKind { .list(RecordKindDescription.all.flatMap(\.subtypes)) }

  /// Completes the time zones that the system knows. The shell asks the program for them, since otherwise
  /// each completion script would contain hundreds of names.
  package static var zones: CompletionKind { .custom { _, _, _ in NamedZone.names } }

  /// Completes a list of these values with commas between them. A value that is already in the list is not
  /// offered again.
  package static func commaSeparated(_ names: [String]) -> CompletionKind {
    .custom { words, index, _ in
      guard words.indices.contains(index) else { return names }
      let chosen = words[index].split(separator: ",", omittingEmptySubsequences: false).dropLast()
      let start = chosen.map { $0 + "," }.joined()
      return names.filter { name in !chosen.contains { $0 == name } }.map { start + $0 }
    }
  }

  /// Completes the names of the persons on this computer.
  package static var persons: CompletionKind {
    .custom { _, _, _ in
      // While a shell completes, a message would disturb the line. The command itself reports the reason when
      // it runs.
      do { return try PersonList.load().all.map(\.name) } catch { return [] }
    }
  }
}
