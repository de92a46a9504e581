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

  /// The number of bytes.
  package let bytes: Int64

  /// The number in a word; nil if it is not valid.
  package init?(argument: String) {
    let unit = Self.units.first { argument.hasSuffix($0.word) }
    let digits = argument.dropLast(unit?.word.count ?? 0)
    guard (1...9).contains(digits.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    bytes = number * (unit?.bytes ?? 1)
  }

  /// A number of bytes in the form of the command line, in the largest unit of which it is a multiple.
  package static func text(_ bytes: Int64) -> String {
    let unit = units.first { bytes >= $0.bytes && bytes % $0.bytes == 0 } ?? ("B", 1)
    return "\(bytes / unit.bytes)\(unit.word)"
  }

  /// A number of bytes as text, with one decimal of its unit.
  package static func rounded(_ bytes: Int64) -> String {
    guard let unit = units.first(where: { bytes >= $0.bytes && $0.bytes > 1 }) else { return "\(bytes) B" }
    let tenths = (bytes * 10 + unit.bytes / 2) / unit.bytes
    return "\(tenths / 10).\(tenths % 10) \(unit.word)"
  }
}

/// The name of a format as a person types it.
package enum FormatName {
  /// The error for a name, with the formats that were probably meant.
  package static func unknown(_ name: String) -> ValidationError {
    let near = near(name)
    let advice = near.isEmpty ? "" : "did you mean \(alternatives(near))? "
    return ValidationError("Unknown format '\(name)'; \(advice)'glucoport formats' lists the formats.")
  }

  /// Formats with this id in other letters, else with this word in their id or title, else with the most
  /// similar id.
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

/// The forms in which `report` writes its page.
package enum ReportForm: String, ExpressibleByArgument, CaseIterable {
  case html, pdf

  /// The form for the suffix of a file's name; nil for any other suffix.
  package init?(nameOf path: String) {
    switch path.split(separator: "/").last?.split(separator: ".").dropFirst().last?.lowercased() {
    case "html"?, "htm"?, "xhtml"?: self = .html
    case "pdf"?: self = .pdf
    default: return nil
    }
  }

  /// The letters that a PDF lacks, as messages name them; nil for none.
  package static func list(_ missing: [Character]) -> String? {
    missing.isEmpty ? nil : missing.prefix(20).map { "'\($0)'" }.joined(separator: ", ")
  }

  /// The form with its article, for messages.
  package var title: String {
    switch self {
    case .html: "an HTML"
    case .pdf: "a PDF"
    }
  }
}

/// The values that a shell completes, for options and arguments that accept one of a list.
extension CompletionKind {
  /// The ids of the export formats.
  package static var formats: CompletionKind { .list(FormatRegister.all.map(\.id)) }

  /// The ids of the meter drivers.
  static var drivers: CompletionKind { .list(DriverRegister.all.map { $0.id }) }

  /// The kinds of servers.
  package static var remoteKinds: CompletionKind { .list(RemoteRegister.all.map { $0.id }) }

  /// The languages of the report.
  package static var languages: CompletionKind { .list(PageTexts.all.map(\.code)) }

  /// The named target ranges.
  package static var targets: CompletionKind { .list(Targets.named.map(\.name)) }

  /// The subtypes of all kinds of records.
  package static var subtypes: CompletionKind { .list(RecordKindDescription.all.flatMap(\.subtypes)) }

  /// The time zones that the system knows. The program is asked for them, since each script would repeat hundreds of names.
  package static var zones: CompletionKind { .custom { _, _, _ in NamedZone.names } }

  /// Several of these values with commas between them, each at most once.
  package static func commaSeparated(_ names: [String]) -> CompletionKind {
    .custom { words, index, _ in
      guard words.indices.contains(index) else { return names }
      let chosen = words[index].split(separator: ",", omittingEmptySubsequences: false).dropLast()
      let start = chosen.map { $0 + "," }.joined()
      return names.filter { name in !chosen.contains { $0 == name } }.map { start + $0 }
    }
  }

  /// The persons who have a store here.
  package static var persons: CompletionKind {
    .custom { _, _, _ in
      // A shell has no place for a message while it completes; the command itself reports the reason.
      do { return try PersonList.load().all.map(\.name) } catch { return [] }
    }
  }
}
