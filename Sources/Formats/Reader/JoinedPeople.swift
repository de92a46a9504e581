// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a row of an export says about the person whose export it is.
enum PersonRow {
  case other
  /// Another export begins, and its person is not named yet.
  case start
  /// A name, or a part of one.
  case name(String)
  /// Another export begins, with this name.
  case title(String)
}

/// Follows which person each row belongs to, in an input that was joined from several exports.
struct JoinedPeople: PeopleFilter {
  /// The column of `--where` that picks a person.
  static let column = "person"

  private let type: any ExportFormat.Type
  private var people = InputPeople(column: column)
  private var names: [String] = []

  /// - Parameter filters: the filters of `--where`. Filters that do not pick a person remain in it.
  init(_ type: any ExportFormat.Type, _ filters: inout [RowFilter]) {
    self.type = type
    filters = people.pick(filters)
  }

  /// Follows a row of the survey.
  mutating func survey(_ row: Row) {
    if !follow(row) { people.note(person) }
  }

  /// - Throws: `Failure` of category `badInput` for several people if none was picked.
  mutating func settle(_ hint: ImportHint) throws {
    names = []
    try people.settle(hint)
  }

  /// Whether to read a row. If not, the row is counted or rejected here.
  mutating func reads(_ row: Row, into out: inout Collector) -> Bool {
    follow(row) || people.reads(person, row, into: &out)
  }

  /// The failure of an import that left out rows because none of them is of the picked person.
  var missing: Failure? { people.missing }

  /// All parts of the name, which are never printed.
  private var person: String { names.joined(separator: "\u{1F}") }

  /// Whether a row names the person or begins an export.
  private mutating func follow(_ row: Row) -> Bool {
    switch type.personRow(row) {
    case .other: return false
    case .start: names = []
    case .name(let name): names.append(name)
    case .title(let name): names = [name]
    }
    return true
  }
}
