// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The people whose items an input holds. An import reads the items of one of them, who is picked by a number
/// in the input's order, or by the whole id. Names and ids are never printed.
struct InputPeople {
  enum PersonChoice { case read, leaveOut, refuse }

  fileprivate static let maxPeople = 1000
  private static let maxCommands = 4

  /// The column that `--where` names.
  private let column: String
  private var picked: String?
  /// The ids in the order of the input. A person's number is the position in this list.
  private var ids: [String] = []
  /// Whether the input was fetched from a source.
  var isFetched = false
  private var hasPicked = false
  private var hasLeftOut = false

  /// - Parameter column: the name of the column in `--where`.
  init(column: String) { self.column = column }

  /// The short digest that identifies a person.
  static func shortDigest(of id: String) -> String {
    var digest = Digest()
    digest.update(id)
    return String(digest.hexadecimal().prefix(8))
  }

  /// Picks the person that one of the filters states, and returns the other filters.
  mutating func pick(_ filters: [RowFilter]) -> [RowFilter] {
    picked = filters.first { foldedHeader($0.column) == foldedHeader(column) }?.value
    return filters.filter { foldedHeader($0.column) != foldedHeader(column) }
  }

  /// Picks the person that one of the filters states, for a format where `--where` can pick only a person.
  ///
  /// - Throws: `Failure` of category `usage` for another column.
  mutating func pickOnly(_ filters: [RowFilter], in title: String) throws {
    guard pick(filters).isEmpty else {
      throw Failure(.usage, "of \(title) --where picks a person: --where \(column)=1")
    }
  }

  /// Picks a person by the whole id, as `fetch` does.
  mutating func pick(_ id: String) { picked = id }

  /// The id of the person whose items are read; nil while no person is known.
  var chosen: String? {
    guard let picked, !ids.contains(picked) else { return picked ?? ids.first }
    return Int(picked).flatMap { ids.indices.contains($0 - 1) ? ids[$0 - 1] : nil }
  }

  /// The id of the chosen person, as a statement of the input about its person.
  ///
  /// - Parameter place: the format, and the name of the id in that format; see `StatedPerson.place`.
  func statedPersons(of place: String) -> [StatedPerson] {
    chosen.flatMap { StatedPerson(id: $0, of: place) }.map { [$0] } ?? []
  }

  mutating func observe(_ id: String) {
    guard !id.isEmpty, ids.last != id, !ids.contains(id), ids.count < Self.maxPeople else { return }
    ids.append(id)
  }

  /// - Throws: `Failure` of category `badInput` for several people if none was picked.
  func decide(_ hint: ImportHint) throws {
    guard ids.count > 1, picked == nil else { return }
    guard !isFetched else {
      throw Failure(
        .configuration,
        "the answer holds data of \(ids.count) people; a store is for one person. State whose data to fetch with --patient and the whole id of the service"
      )
    }
    let choices = (1...min(ids.count, Self.maxCommands)).map { number in
      { [column] (options: inout ExportOptions) in
        options.rows.append(RowFilter(column: column, value: String(number)))
      }
    }
    throw Failure(
      .badInput,
      "the input holds data of \(ids.count) people; a store is for one person. Import those of one, by the number in the "
        + "input's order or by the whole id:" + hint.lines(choices))
  }

  /// Whether `--where` or `--patient` picked a person.
  var isPicked: Bool { picked != nil }

  /// The decision whether to read an item of this person. An empty id means an item without a person.
  mutating func choice(_ id: String) -> PersonChoice {
    observe(id)
    guard let picked else {
      return id.isEmpty || ids.first == id ? .read : .refuse
    }
    // A number may be the id of a person. It is then compared as an id, and not as a position in the order.
    let isPicked =
      ids.contains(picked) ? picked == id : ids.firstIndex(of: id).map { String($0 + 1) } == picked
    guard isPicked else {
      hasLeftOut = true
      return .leaveOut
    }
    hasPicked = true
    return .read
  }

  /// Whether to read an item. If not, the item is counted or rejected here.
  mutating func reads(_ id: String, _ row: Row, into out: inout BatchBuilder) -> Bool {
    switch choice(id) {
    case .read: return true
    case .leaveOut: out.skip("item of another person")
    case .refuse:
      out.reject(row, "an item of another person; import those of one with --where \(column)=NUMBER")
    }
    return false
  }

  /// The failure of an import that left out items because none of them is of the picked person.
  var missing: Failure? {
    guard hasLeftOut, !hasPicked else { return nil }
    guard !isFetched else {
      return Failure(
        .configuration,
        "the person of --patient is not in the answer any more; nothing of other people was stored. Look into the app of the service whom you follow"
      )
    }
    return Failure(
      .badInput,
      "no person has the number or id of --where \(column); nothing was imported. The input names \(ids.count)"
    )
  }
}

/// Leaves out the rows of all people except one.
protocol PeopleFilter {
  /// Records the person of a row in the survey.
  mutating func survey(_ row: Row)
  /// - Throws: `Failure` of category `badInput` for several people of whom none was picked.
  mutating func decide(_ hint: ImportHint) throws
  /// Whether to read a row. If not, the row is counted or rejected here.
  mutating func reads(_ row: Row, into out: inout BatchBuilder) -> Bool
  /// What the rows that are read state about their person; nil if the filter does not know it.
  var stated: [StatedPerson]? { get }
  /// The failure of an import that left out rows because none of them is of the picked person; nil otherwise.
  var missing: Failure? { get }
}

/// A column that identifies the person of each row, although the format has no such column. A person or a
/// program added it to the export, or it is the account in an API's response.
struct PersonColumn: PeopleFilter {
  /// The name of the column, folded like a header.
  private let folded: String
  private let format: String
  private var people: InputPeople
  /// The index of the column in a row; nil before the header.
  private var place: Int?
  /// For each person, the text of the first cell that named this person.
  private var names: [PersonWord.PersonKey: String] = [:]
  /// The last cell, and the text of the first cell that named the same person.
  private var last = (cell: "", name: "")

  /// Finds a column for persons in a header that the format recognises; nil without one.
  ///
  /// - Parameter filters: the filters of `--where`. On return, only the filters that do not pick a person
  ///   remain.
  init?<Format: ExportFormat>(
    _ parser: Format, _ delimiter: UInt8, _ head: InputHead, _ options: ExportOptions,
    _ filters: inout [RowFilter]
  ) {
    guard !Format.picksRows else { return nil }
    // The names are compared only in headers, since other rows have arbitrary text.
    var (probe, out) = (parser, BatchBuilder(format: Format.id, options: options))
    let headers = head.rows(delimiter).lazy.filter { cells in
      if case .header = cells.withRow({ probe.read($0, into: &out) }) { true } else { false }
    }
    guard
      let name = headers.compactMap({ $0.first { Self.namesPersons($0, in: Format.id) } }).first
    else { return nil }
    (folded, format) = (foldedHeader(name), Format.id)
    people = InputPeople(column: name)
    filters = people.pick(filters)
  }

  /// The filter for a member of JSON objects that identifies the person. `place` is its index in the layout.
  init(member: String, at place: Int, of format: String, _ filters: inout [RowFilter]) {
    (folded, self.place, self.format) = (foldedHeader(member), place, format)
    people = InputPeople(column: member)
    filters = people.pick(filters)
  }

  /// A column that names persons or programs.
  private static let program = "client"

  /// Whether a column's name means that the column identifies persons. Names such as `SID` do not count,
  /// since formats number their rows in columns with these names. In Tidepool a client is the program that
  /// uploaded the data.
  static func namesPersons(_ name: String, in format: String) -> Bool {
    let words = HeaderWords(name)
    if format == TidepoolFormat.id, words.name == program { return false }
    return words.isPerson && !["sid", "uid", "pid"].contains(words.name)
  }

  mutating func survey(_ row: Row) {
    if let person = person(of: row) { people.observe(person) }
  }

  mutating func decide(_ hint: ImportHint) throws { try people.decide(hint) }

  mutating func reads(_ row: Row, into out: inout BatchBuilder) -> Bool {
    guard let person = person(of: row) else { return true }
    return people.reads(person, row, into: &out)
  }

  /// What the column states about the picked person. Nothing if the column can name programs: the subject in
  /// Nightscout is the login of a program, and a client may be one.
  var stated: [StatedPerson]? {
    if format == NightscoutFormat.id || folded == Self.program { return [] }
    return people.chosen.flatMap { StatedPerson(label: $0, of: "\(format) \(folded)") }.map { [$0] } ?? []
  }

  var missing: Failure? { people.missing }

  /// The person of a row; empty if the row states none, and nil for a header and the rows above it.
  private mutating func person(of row: Row) -> String? {
    if let place, row[place].folded != folded { return name(of: row[place].trimmed.text) }
    if let found = row.fields.firstIndex(where: { $0.folded == folded }) { place = found }
    return nil
  }

  /// The text of the first cell that named the same person as `cell`. The two texts may differ in case, or in
  /// the order of their words.
  private mutating func name(of cell: String) -> String {
    if cell.isEmpty || cell == last.cell { return cell.isEmpty ? cell : last.name }
    let key = PersonWord.PersonKey(Array(cell.utf8))
    let name = names[key] ?? cell
    if names.count < InputPeople.maxPeople { names[key] = name }
    last = (cell, name)
    return name
  }
}

extension InputHead {
  /// The JSON member that identifies the person of each object; nil without one. Members of nested objects
  /// are left out, since they may describe something else, such as the maker of a device.
  func personMember(of format: String) -> String? {
    let members = Set(objects.flatMap(\.keys)).filter {
      !$0.contains(".") && PersonColumn.namesPersons($0, in: format)
    }
    // Of several members, the one that most objects have is returned.
    return members.max { left, right in
      let counts = [left, right].map { member in objects.count { $0[member]?.isEmpty == false } }
      return counts[0] != counts[1] ? counts[0] < counts[1] : left > right
    }
  }

  /// The names of the JSON members by which a document identifies the person of all its readings. These
  /// members are outside of the objects with readings.
  var envelopePersons: [String] {
    Self.envelopeMembers.filter { member in
      names(member) && !objects.contains { $0.keys.contains { $0 == member || $0.hasSuffix("." + member) } }
    }
  }
  private static let envelopeMembers = [
    "userId", "user_id", "patientId", "patient_id", "patient", "subjectId", "subject_id", "subject",
    "firstName", "lastName", "first_name", "last_name", "patientName", "patient_name", "personId",
    "person_id",
    "person", "participantId", "participant_id", "mrn",
  ]
  /// JSON members for a person's name. If a member has only the first name, its value here is the name of the
  /// member with the last name. Otherwise the value is nil.
  private static let nameMembers: [String: String?] = [
    "firstName": "lastName", "first_name": "last_name", "patientName": nil, "patient_name": nil,
  ]
  private static let lastNameMembers: Set = ["lastName", "last_name"]

  /// The persons that texts in a JSON envelope name or number. They are read only for the generic
  /// format: in the format of a service, such a member can name a program.
  private func users(in members: [OuterMember]) -> [StatedPerson] {
    members.compactMap { member in
      guard Self.userMembers.contains(member.name), case .text(let text) = member.value, !readingsHave(member)
      else { return nil }
      // A profile or an account may also be one of a pump or of a program.
      if ["account", "profile"].contains(member.name),
        PersonWord.describes(Array(text.utf8)) || HeaderWords(text).namesDose
      {
        return nil
      }
      return StatedPerson(label: text, of: "\(GenericFormat.id) \(member.name.lowercased())")
    }
  }
  private static let userMembers: Set = [
    "user", "username", "userName", "owner", "child", "account", "profile", "pet",
  ]

  /// Names of JSON members whose value is an object with the name or the id of the person. These members are
  /// outside of the objects with readings.
  private static let personMembers: Set = [
    "patient", "person", "subject", "user", "participant", "owner", "child", "account", "profile", "pet",
  ]

  /// The persons in the objects of `personMembers`.
  private func persons(in members: [OuterMember]) -> [StatedPerson] {
    members.filter { member in
      Self.personMembers.contains(member.name) && member.value == .object && !readingsHave(member)
    }.flatMap { member in
      let own = members.filter { $0.path.dropLast() == member.path[...] }
      let text = { (name: String) in own.first { $0.name == name }?.text }
      let name = text("name") ?? ["firstName", "lastName"].compactMap(text).joined(separator: " ")
      let id = (text("id") ?? text("_id")).flatMap {
        StatedPerson(id: $0, of: "\(GenericFormat.id) \(member.name)")
      }
      let isOfProgram = member.name == "profile" && PersonWord.describes(Array(name.utf8))
      return [isOfProgram ? nil : StatedPerson(name: name), id].compactMap { $0 }
    }
  }

  /// Whether the objects with readings have a member with the same name, which states their person.
  private func readingsHave(_ member: OuterMember) -> Bool {
    objects.contains { $0.keys.contains { $0 == member.name || $0.hasPrefix(member.name + ".") } }
  }

  /// The statements about a person in JSON outside of the objects with readings.
  func personAroundObjects(of format: any ExportFormat.Type) -> [StatedPerson] {
    guard isJSON, !format.picksRows || format == GenericFormat.self else { return [] }
    let members = format == GenericFormat.self ? outerMembers : []
    return persons(in: members) + users(in: members)
      + envelopePersons.compactMap { member in
        guard let value = value(of: member), !Self.lastNameMembers.contains(member) else { return nil }
        guard let completion = Self.nameMembers[member] else {
          return StatedPerson(id: value, of: "\(format.id) \(member)")
        }
        let rest = completion.flatMap { self.value(of: $0) } ?? ""
        return StatedPerson(name: "\(value) \(rest)")
      }
  }
}

/// What a row states about the person of an export.
enum PersonRow {
  case other
  /// Another export begins, and its person is not named yet.
  case start
  /// A name, or a part of one.
  case name(String)
  /// Another export begins, with these parts of a name.
  case title([String])
}

/// Determines the person of each row, in an input that was joined from several exports.
struct JoinedPeople: PeopleFilter {
  /// The column of `--where` that picks a person.
  static let column = "person"

  private let type: any ExportFormat.Type
  private var people = InputPeople(column: column)
  private var names: [String] = []
  /// What the row above states about the person.
  private var above = PersonRow.other

  /// - Parameter filters: the filters of `--where`. On return, only the filters that do not pick a person
  ///   remain.
  init(_ type: any ExportFormat.Type, _ filters: inout [RowFilter]) {
    self.type = type
    filters = people.pick(filters)
  }

  /// Determines the person of a row in the survey, and records that person for `decide`.
  mutating func survey(_ row: Row) {
    if !readTitle(row) { people.observe(person) }
  }

  /// - Throws: `Failure` of category `badInput` for several people if none was picked.
  mutating func decide(_ hint: ImportHint) throws {
    (names, above) = ([], .other)
    try people.decide(hint)
  }

  /// Whether to read a row. If not, the row is counted or rejected here.
  mutating func reads(_ row: Row, into out: inout BatchBuilder) -> Bool {
    readTitle(row) || people.reads(person, row, into: &out)
  }

  /// The failure of an import that left out rows because none of them is of the picked person.
  var missing: Failure? { people.missing }

  /// What the rows of the picked person state about this person, such as the name. Nil if no person was
  /// picked: then the head of the input states it.
  var stated: [StatedPerson]? {
    guard people.isPicked else { return nil }
    let names = people.chosen?.split(separator: Self.separator, omittingEmptySubsequences: false) ?? []
    return type.statedPersons(named: names.map(String.init))
  }
  private static let separator = "\u{1F}"

  /// All parts of the current person's name. They are never printed.
  private var person: String { names.joined(separator: Self.separator) }

  /// Whether a row names the person or begins an export.
  private mutating func readTitle(_ row: Row) -> Bool {
    above = type.personRow(row, below: above)
    switch above {
    case .other: return false
    case .start: names = []
    case .name(let name): names.append(name)
    case .title(let parts): names = parts
    }
    return true
  }
}
