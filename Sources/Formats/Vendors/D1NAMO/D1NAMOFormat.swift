// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Glucose of the D1NAMO data set. Only the type `cgm` is a sensor's; other types, and a missing one, are
/// finger sticks.
struct D1NAMOFormat: ExportFormat {
  static let id = "d1namo"
  static let title = "D1NAMO glucose CSV"
  static let summary = "finger sticks with meal marks, sensor readings, comments"

  private enum Column { static let day = 0, time = 1, glucose = 2, type = 3, comment = 4 }
  private static let names = ["date", "time", "glucose", "type", "comments"]
  /// The kinds and marks by type. `b` or `a` means before or after, and a second `b`, `l` or `d` means
  /// breakfast, lunch or dinner.
  private static let types: [String: (kind: ReadingKind, marks: ReadingMarks)] = [
    "cgm": (.cbg, []), "finger": (.smbg, []), "manual": (.smbg, []), "": (.smbg, []),
    "bb": (.smbg, .beforeMeal), "bl": (.smbg, .beforeMeal), "bd": (.smbg, .beforeMeal),
    "ab": (.smbg, .afterMeal), "al": (.smbg, .afterMeal), "ad": (.smbg, .afterMeal),
  ]

  private var header: SingleHeader
  private var units: UnitSurvey
  private var kinds = OtherKinds()
  private let model: String

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<HeaderRow<Void>>? {
    head.firstRow(where: { $0 == names })?.recognition
  }

  init(_ found: Recognition<HeaderRow<Void>>, head: InputHead, options: ExportOptions) {
    header = SingleHeader(found.header.cells, of: "D1NAMO")
    units = UnitSurvey(given: options.unit, usual: .millimolesPerLitre)
    model = options.device ?? "D1NAMO"
  }

  // Commas in the comment of the last column are not quoted.
  func maxCells(below header: Row?) -> Int? { nil }

  var needsSurvey: Bool { units.isUndecided }

  mutating func survey(_ row: Row) {
    if let number = row[Column.glucose].number() { units.observe(number) }
  }

  mutating func decide() throws { try units.decide() }

  var decisions: [Decision] { [units.decision, .yearFirst] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    if let verdict = header.verdict(row, key: Column.day) { return verdict }
    guard let time = Field.yearFirstTime(row[Column.day].trimmed, row[Column.time].trimmed) else {
      out.reject(row, "invalid date or time; expected YYYY-MM-DD and hh:mm:ss")
      return .data
    }
    let (cell, type) = (row[Column.glucose].trimmed, row[Column.type].trimmed)
    if cell.isEmpty {
      out.skip("row without a value")
    } else if let (kind, marks) = Self.types[type.folded] {
      let device = out.device(Device(vendor: "D1NAMO", model: model, format: Self.id))
      out.add(
        kind, GlucoseReader(unit: units.unit).read(cell), device: device, at: time, marks: marks, row: row)
    } else {
      out.skip(kinds.name(type))
    }
    let comment = row[Column.comment].trimmed
    if !comment.isEmpty {
      out.add(.note, at: time, owner: model, line: row.line, ["text": .text(comment.text)])
    }
    return .data
  }
}

extension D1NAMOFormat {
  static let page = FormatPage(
    origin: [
      "the data set D1NAMO: the file glucose.csv of one person"
    ],
    variants: [
      "healthy people (types BB, AB, BL, AL, BD, AD or none) and people with diabetes (types cgm, finger, manual)",
      "no column names the unit, so all values decide it, or --unit",
    ],
    languages: "English only; the columns have fixed names",
    reads: [
      "finger sticks, those before and after a meal with their mark",
      "sensor readings",
      "comments as notes",
    ],
    notRead: [
      "the files of insulin, food and other sensors",
      "values of other types, which are counted",
    ])
}
