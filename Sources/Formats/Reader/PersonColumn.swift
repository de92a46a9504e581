// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What leaves out the rows of all people but one.
protocol PeopleFilter {
  /// Looks at a row of the survey.
  mutating func survey(_ row: Row)
  /// - Throws: `Failure` of category `badInput` for several people of whom none was picked.
  mutating func settle(_ hint: ImportHint) throws
  /// Whether to read a row; another one is counted or rejected here.
  mutating func reads(_ row: Row, into out: inout Collector) -> Bool
  /// What is wrong where rows were left out and none was picked.
  var missing: Failure? { get }
}

/// A column that says whose each row is, in an input of a format that has no such column itself: one that a person or a program
/// added, or the account in bodies of an API.
struct PersonColumn: PeopleFilter {
  /// The name as headers are compared.
  private let folded: String
  private var people: InputPeople
  /// Where the column is in a row; nil before its header.
  private var place: Int?

  /// A column of a table, under the header that the format reads; nil without one.
  ///
  /// - Parameter filters: those of `--where`; the ones that pick no person remain.
  init?<Format: ExportFormat>(
    _ parser: Format, _ delimiter: UInt8, _ head: InputHead, _ options: ExportOptions,
    _ filters: inout [RowFilter]
  ) {
    guard !Format.picksRows else { return nil }
    // Few rows are headers, and only their names are looked at.
    var (probe, out) = (parser, Collector(format: Format.id, options: options))
    let headers = head.rows(delimiter).lazy.filter { cells in
      if case .header = cells.withRow({ probe.read($0, into: &out) }) { true } else { false }
    }
    guard let name = headers.compactMap({ $0.first(where: Self.namesPersons) }).first else { return nil }
    folded = foldedHeader(name)
    people = InputPeople(column: name)
    filters = people.pick(filters)
  }

  /// A member of JSON objects, which the layout has at this place.
  init(member: String, at place: Int, _ filters: inout [RowFilter]) {
    (folded, self.place) = (foldedHeader(member), place)
    people = InputPeople(column: member)
    filters = people.pick(filters)
  }

  /// Whether a column is of persons. Formats number their rows in columns named like `SID`.
  static func namesPersons(_ name: String) -> Bool {
    let words = HeaderWords(name)
    return words.isPerson && !["sid", "uid", "pid"].contains(words.name)
  }

  mutating func survey(_ row: Row) {
    if let person = person(of: row) { people.note(person) }
  }

  mutating func settle(_ hint: ImportHint) throws { try people.settle(hint) }

  mutating func reads(_ row: Row, into out: inout Collector) -> Bool {
    guard let person = person(of: row) else { return true }
    return people.reads(person, row, into: &out)
  }

  var missing: Failure? { people.missing }

  /// Whose a row is, empty where it does not say; nil for a header and for what is above it.
  private mutating func person(of row: Row) -> String? {
    if let place, row[place].folded != folded { return row[place].trimmed.text }
    if let found = row.fields.firstIndex(where: { $0.folded == folded }) { place = found }
    return nil
  }
}

extension InputHead {
  /// The member by which the first JSON objects say whose each is; nil without one. A member of an object in them, such as the
  /// maker of a device, is of that object.
  var personMember: String? {
    let members = Set(objects.flatMap(\.keys)).filter { !$0.contains(".") && PersonColumn.namesPersons($0) }
    // Of several, the one that most objects have.
    return members.max { left, right in
      let counts = [left, right].map { member in objects.count { $0[member]?.isEmpty == false } }
      return counts[0] != counts[1] ? counts[0] < counts[1] : left > right
    }
  }

  /// The member by which JSON says around its objects whose they are; nil without one.
  var envelopePerson: String? {
    Self.envelopeMembers.first { member in
      names(member) && !objects.contains { $0.keys.contains { $0 == member || $0.hasSuffix("." + member) } }
    }
  }
  private static let envelopeMembers = [
    "userId", "user_id", "patientId", "patient_id", "patient", "subjectId", "subject_id", "subject",
    "firstName",
  ]
}
