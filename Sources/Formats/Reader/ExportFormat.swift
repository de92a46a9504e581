// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How the rows of an input are found.
enum Layout {
  /// Delimited text.
  case table(delimiter: UInt8)
  /// JSON objects; the format's columns are these names, in this order.
  case objects(columns: [String])
}

/// What a format made of a row.
enum RowVerdict {
  /// Data: yielded, skipped or rejected by the format itself.
  case data
  /// A header, from which on the columns are known.
  case header
  /// Neither: part of a preamble when a header follows, else an item to reject with this reason.
  case unknown(String)
  /// The last line of the input, without line end, and shorter or other than its kind: cut off.
  case cut
}

/// One export format: what it looks like, and what its rows mean. One file each, and one line in `ExportRegister`.
protocol ExportFormat: SendableMetatype {
  /// A lower-case word for `--format`, part of the identity of devices without serial and of records.
  static var id: String { get }
  /// The name for people.
  static var title: String { get }
  /// What it reads, in one line.
  static var summary: String { get }

  /// Whether it comes as JSON, too, so that an empty list can be one of its exports.
  static var readsJSON: Bool { get }

  /// How the input's rows are found when it certainly is of this format; else nil.
  static func recognise(_ head: InputHead) -> Layout?

  /// - Throws: `HeaderMissing` when the input has no header of this format after all, so that another format may
  ///   read it; `Failure` for an input that is of this format and cannot be read.
  init(layout: Layout, head: InputHead, options: ExportOptions) throws

  /// Whether the whole input has to be surveyed before its first row can be read.
  var isOpen: Bool { get }
  /// Whether a survey would settle something that is otherwise taken from the input's head; a live pipe goes without.
  var gainsBySurvey: Bool { get }
  /// Looks at a row for what is open.
  mutating func survey(_ row: Row)
  /// Settles what is open from the survey.
  ///
  /// - Throws: `Failure` of category `badInput` naming the option that would settle it.
  mutating func settle() throws

  /// What was decided besides encoding and zone.
  var decisions: [Decision] { get }
  var warnings: [String] { get }
  /// When the export was made, in UTC seconds, where the input says so.
  var generatedAt: Int64? { get }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict
  /// Yields what was held back, at the end of the input.
  mutating func finish(into out: inout Collector)
}

extension ExportFormat {
  static var readsJSON: Bool { false }
  var isOpen: Bool { false }
  var gainsBySurvey: Bool { false }
  mutating func survey(_ row: Row) {}
  mutating func settle() throws {}
  var warnings: [String] { [] }
  var generatedAt: Int64? { nil }
  mutating func finish(into out: inout Collector) {}
}

/// Why an input that a format recognised is none of its exports. Detection goes on with the next format.
struct HeaderMissing: Error {
  let message: String
}

/// A format's name for people and for `--format`, as `glucoport formats` lists it.
public struct ExportFormatInfo: Sendable {
  /// The word for `--format`.
  public let id: String
  /// The name for people.
  public let title: String
  /// What it reads, in one line.
  public let summary: String
}

/// The formats that glucoport reads. The order is the order of detection: the most certain signature first.
public enum ExportRegister {
  static let formats: [any ExportFormat.Type] = [
    GlucoportFormat.self,
    ClarityFormat.self,
    LibreViewFormat.self,
    LibreDesktopFormat.self,
    MySugrFormat.self,
    NightscoutFormat.self,
    TidepoolFormat.self,
    GenericFormat.self,
  ]

  /// Every format, in the order of detection.
  public static var all: [ExportFormatInfo] {
    formats.map { ExportFormatInfo(id: $0.id, title: $0.title, summary: $0.summary) }
  }
}
