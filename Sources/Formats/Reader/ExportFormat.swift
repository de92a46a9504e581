// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// How the rows of an input are found.
enum Layout {
  /// The rows are lines of delimited text.
  case table(delimiter: UInt8)
  /// The rows are lines with one cell each, for formats whose quotes do not occur in pairs as in a table.
  case lines
  /// The rows are JSON objects. The columns are the members with these names, in this order.
  case objects(columns: [String])
  /// The rows are XML elements.
  case elements(ElementShape)
}

/// The layout and the header that a format found in the head of an input.
struct Recognition<Header> {
  /// How the input's rows are found.
  let layout: Layout
  /// The header or the items that the format found in the head. The format needs them to read the rows.
  let header: Header
}

extension Recognition where Header == Void {
  /// A recognition without a header, for a format that reads the header together with the rows.
  init(_ layout: Layout) { self.init(layout: layout, header: ()) }
}

/// The result of passing a row to its format.
enum RowVerdict {
  /// A data row, which the format has added, counted or rejected.
  case data
  /// A header, which names the columns of the rows below it.
  case header
  /// A row that is neither data nor a header. It is part of a preamble if a header follows, otherwise it is
  /// rejected with this reason.
  case unknown(String)
  /// The last line of the input if it is truncated: it has no line end, and lacks a part that complete rows
  /// have.
  case truncated
}

/// One export format: how it is recognised, and what its rows mean. Each format has a file, and a line in
/// `FormatRegister`.
protocol ExportFormat: SendableMetatype {
  /// A lower-case word for `--format`. It is also part of the identity of records and of devices without a
  /// serial number.
  static var id: String { get }
  /// The name of the format as people see it.
  static var title: String { get }
  /// The data that the format contains, in one line.
  static var summary: String { get }
  /// The page for people, as `glucoport formats NAME` prints it. A test fails for a format without a page.
  static var page: FormatPage { get }

  /// Whether a row with more cells than the header and most rows below it is certainly split, although its
  /// last cells are empty.
  static var rowsHaveOneWidth: Bool { get }

  /// Whether the format itself applies `--where` to its rows.
  static var picksRows: Bool { get }

  /// What a row states about the person of the export, or that the row begins another export. `above` is the
  /// result for the row above it.
  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow

  /// The statements about the person in the head of an input.
  static func statedPersons(in head: InputHead) -> [StatedPerson]

  /// The statements about one person in the names that `personRow` returned for this person's rows.
  static func statedPersons(named names: [String]) -> [StatedPerson]

  /// The columns of an input as recognition found them.
  associatedtype Header = Void

  /// Whether the readings have offsets that another logbook derived, so that no zone of the import applies to
  /// them.
  static var passesOffsetsOn: Bool { get }

  /// Whether exports of the format are known to repeat rows, so that equal rows need no warning.
  static var repeatsRows: Bool { get }

  /// The header for an input that is an empty JSON list, in which a format finds nothing to recognise. Nil
  /// for a format without JSON.
  static var emptyList: Header? { get }

  /// The database whose tables the format reads as JSON; nil for a format without one.
  static var database: DatabaseShape? { get }

  /// The layout and the header of an input that is certainly in this format, otherwise nil. This is the only
  /// search for a header.
  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Header>?

  /// - Throws: `Failure` for an input of this format that cannot be read.
  init(_ found: Recognition<Header>, head: InputHead, options: ExportOptions) throws

  /// Whether a survey of the whole input is necessary before its first row can be read.
  var needsSurvey: Bool { get }
  /// Whether a survey would decide something that is otherwise taken from the input's head. A live pipe is
  /// not surveyed.
  var benefitsFromSurvey: Bool { get }
  /// Whether further rows would show nothing more in a survey.
  var hasSeenEnough: Bool { get }
  /// Records the facts in a row that help `decide`.
  mutating func survey(_ row: Row)
  /// Decides what `needsSurvey` or `benefitsFromSurvey` left undecided, after the survey.
  ///
  /// - Throws: `Failure` of category `badInput` that names the option that would decide it.
  mutating func decide() throws
  /// Called if more rows may follow the surveyed rows, as in a live pipe.
  mutating func expectFurtherRows()

  /// The decisions about the input, without those about its encoding and zone.
  var decisions: [Decision] { get }
  var warnings: [String] { get }
  /// Warnings about items that were stored because of a person's statement or setting, although the input
  /// contradicts it. An unattended import reports these warnings, too.
  var doubts: [String] { get }
  /// A text that each export with the name of its person has exactly once; nil for an export without a name.
  /// If the text occurs twice, the input may hold the exports of two people.
  var joinMark: String? { get }
  /// The statements about the person in the items that were read so far.
  var statedPersons: [StatedPerson] { get }
  /// The failure of an import that read the whole input, if no row matches the `--where` or `--patient` of
  /// the user. Nil if a row matches, or if the user gave neither option.
  var failureAtEnd: Failure? { get }
  /// When the export was made, in UTC seconds; nil if the input does not state it.
  var generatedAt: Int64? { get }

  /// The number of cells that a row of a table may fill, by default that of the header above it. A row with
  /// content in further cells is rejected. Nil if the number is not limited.
  ///
  /// - Parameter header: the last row with the verdict `header`; nil before the first one.
  func maxCells(below header: Row?) -> Int?

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict
  /// Adds the items that the format still holds at the end of the input.
  mutating func finish(into out: inout BatchBuilder)
}

extension ExportFormat {
  static var page: FormatPage { .missing }
  static var emptyList: Header? { nil }
  static var database: DatabaseShape? { nil }
  static var passesOffsetsOn: Bool { false }
  static var repeatsRows: Bool { false }
  static var picksRows: Bool { false }
  static func personRow(_ row: Row, below above: PersonRow) -> PersonRow { .other }
  static func statedPersons(in head: InputHead) -> [StatedPerson] { head.personAroundObjects(of: Self.self) }
  static func statedPersons(named names: [String]) -> [StatedPerson] { [] }
  var statedPersons: [StatedPerson] { [] }
  var joinMark: String? { nil }
  var needsSurvey: Bool { false }
  var benefitsFromSurvey: Bool { false }
  var hasSeenEnough: Bool { false }
  mutating func survey(_ row: Row) {}
  mutating func decide() throws {}
  mutating func expectFurtherRows() {}
  var warnings: [String] { [] }
  var doubts: [String] { [] }
  var generatedAt: Int64? { nil }
  var failureAtEnd: Failure? { nil }
  func maxCells(below header: Row?) -> Int? { header?.filledCount }
  static var rowsHaveOneWidth: Bool { true }
  mutating func finish(into out: inout BatchBuilder) {}
}

/// A format's name for people and for `--format`, as `glucoport formats` lists it.
public struct ExportFormatInfo: Sendable {
  /// The word for `--format`.
  public let id: String
  /// The name of the format as people see it.
  public let title: String
  /// The data that the format contains, in one line.
  public let summary: String
  /// The page for people about the format.
  package let page: FormatPage
}

/// The formats that glucoport reads. The order is the order of detection: the most certain signature first.
public enum FormatRegister {
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

/// What a person wants to know about a format before an import, as `glucoport formats NAME` prints it. It is
/// at the end of the format's file.
///
/// Each text is a line of a list: it begins in lower case and has no full stop.
package struct FormatPage: Sendable {
  /// How to get the export out of the app or site, step by step, with ` > ` between the parts of a menu.
  package let origin: [String]
  /// The kinds of file and the versions of the app in which the export comes.
  package let variants: [String]
  /// The languages of the app that are read.
  package let languages: String
  /// The kinds of data that are imported.
  package let reads: [String]
  /// The kinds of data in the export that are not imported.
  package let notRead: [String]

  /// The page of a format that has no page yet.
  static let missing = FormatPage(origin: [], variants: [], languages: "", reads: [], notRead: [])
}
