// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// How the rows of an input are found.
enum Layout {
  /// Delimited text.
  case table(delimiter: UInt8)
  /// Lines, for formats whose quotes pair up in no way that a table's do: one cell each.
  case lines
  /// JSON objects; the format's columns are these names, in this order.
  case objects(columns: [String])
  /// XML elements.
  case elements(ElementShape)
}

/// What a format found in the head of an input that is its own.
struct Recognition<Header> {
  /// How the input's rows are found.
  let layout: Layout
  /// The header or the items that it was recognised by, as the format needs them to read the rows.
  let header: Header
}

extension Recognition where Header == Void {
  /// For a format that reads the header when its row comes.
  init(_ layout: Layout) { self.init(layout: layout, header: ()) }
}

/// What a format made of a row.
enum RowVerdict {
  /// Data: yielded, skipped or rejected by the format itself.
  case data
  /// A header, from which on the columns are known.
  case header
  /// Neither: part of a preamble when a header follows, else an item to reject with this reason.
  case unknown(String)
  /// The last line of the input, without line end, and shorter or other than its kind: truncated.
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
  /// What people want to know of it, beside its reader. A test finds the format that has none.
  static var page: FormatPage { get }

  /// Whether it picks the rows of `--where` itself.
  static var picksRows: Bool { get }

  /// What a row says of the person whose export it is.
  static func personRow(_ row: Row) -> PersonRow

  /// What recognising an input finds out about its columns.
  associatedtype Header = Void

  /// Whether its readings come with the offsets that another logbook derived.
  static var passesOffsetsOn: Bool { get }

  /// What replaces the header of an empty JSON list, which no format can recognise; nil for a format without JSON.
  static var emptyList: Header? { get }

  /// The database whose tables it reads as JSON; nil for a format without one.
  static var database: DatabaseShape? { get }

  /// What was found in an input that certainly is of this format; else nil. The only search for a header.
  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Header>?

  /// - Throws: `Failure` for an input that is of this format and cannot be read.
  init(_ found: Recognition<Header>, head: InputHead, options: ExportOptions) throws

  /// Whether the whole input has to be surveyed before its first row can be read.
  var isOpen: Bool { get }
  /// Whether a survey would settle something that is otherwise taken from the input's head; a live pipe goes without.
  var gainsBySurvey: Bool { get }
  /// Whether further rows would show nothing more in a survey.
  var hasSeenEnough: Bool { get }
  /// Looks at a row for what is open.
  mutating func survey(_ row: Row)
  /// Settles what is open from the survey.
  ///
  /// - Throws: `Failure` of category `badInput` naming the option that would settle it.
  mutating func settle() throws

  /// What was decided besides encoding and zone.
  var decisions: [Decision] { get }
  var warnings: [String] { get }
  /// A text that is once in each export of a format that names its person; nil for other formats. Where it is twice, the input
  /// may hold the exports of two people.
  var joinMark: String? { get }
  /// What is wrong with an input that was read to its end and gave nothing that a person asked for.
  var failureAtEnd: Failure? { get }
  /// When the export was made, in UTC seconds, where the input says so.
  var generatedAt: Int64? { get }

  mutating func read(_ row: Row, into out: inout Collector) -> RowVerdict
  /// Yields what was held back, at the end of the input.
  mutating func finish(into out: inout Collector)
}

extension ExportFormat {
  static var page: FormatPage { .missing }
  static var emptyList: Header? { nil }
  static var database: DatabaseShape? { nil }
  static var passesOffsetsOn: Bool { false }
  static var picksRows: Bool { false }
  static func personRow(_ row: Row) -> PersonRow { .other }
  var joinMark: String? { nil }
  var isOpen: Bool { false }
  var gainsBySurvey: Bool { false }
  var hasSeenEnough: Bool { false }
  mutating func survey(_ row: Row) {}
  mutating func settle() throws {}
  var warnings: [String] { [] }
  var generatedAt: Int64? { nil }
  var failureAtEnd: Failure? { nil }
  mutating func finish(into out: inout Collector) {}
}

/// A format's name for people and for `--format`, as `glucoport formats` lists it.
public struct ExportFormatInfo: Sendable {
  /// The word for `--format`.
  public let id: String
  /// The name for people.
  public let title: String
  /// What it reads, in one line.
  public let summary: String
  /// What people want to know of it.
  package let page: FormatPage
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
    CareLinkFormat.self,
    GlookoFormat.self,
    AppleHealthFormat.self,
    LibreLinkUpFormat.self,
    DexcomAPIFormat.self,
    DexcomShareFormat.self,
    SiDiaryFormat.self,
    XDripFormat.self,
    CareLinkCloudFormat.self,
    FHIRFormat.self,
    OpenMHealthFormat.self,
    TandemFormat.self,
    DiasendFormat.self,
    DiabetesMFormat.self,
    MyLifeFormat.self,
    AccuChekMobileFormat.self,
    AccuChek360Format.self,
    SmartPixFormat.self,
    ContourFormat.self,
    GlucometerDumpFormat.self,
    LingoFormat.self,
    GlimpFormat.self,
    JugglucoFormat.self,
    JugglucoNGFormat.self,
    GlucoseBuddyFormat.self,
    HealthAutoExportFormat.self,
    OhioT1DMFormat.self,
    DiaguardFormat.self,
    NutrisenseFormat.self,
    LevelsFormat.self,
    CronometerFormat.self,
    GlurooFormat.self,
    FollowerTablesFormat.self,
    D1NAMOFormat.self,
    ShanghaiFormat.self,
    SibioFormat.self,
    SibionicsFormat.self,
    GenericFormat.self,
  ]

  /// Every format, in the order of detection.
  public static var all: [ExportFormatInfo] {
    formats.map { ExportFormatInfo(id: $0.id, title: $0.title, summary: $0.summary, page: $0.page) }
  }
}
