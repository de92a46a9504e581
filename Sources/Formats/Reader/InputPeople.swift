// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The people in an input whose items it holds; one of them is read. Names and ids are never printed. A person is
/// picked by a number in the input's order, or by the whole id.
struct InputPeople {
  enum Choice { case read, leaveOut, refuse }

  private static let maxPeople = 1000
  private static let maxCommands = 4

  /// The column that `--where` names.
  private let column: String
  private var picked: String?
  /// The ids in the order of the input. A person's number is the position in this list.
  private var ids: [String] = []
  private var hasPicked = false
  private var hasLeftOut = false

  /// - Parameter column: the name for `--where`.
  init(column: String) { self.column = column }

  /// The short digest that identifies a person.
  static func mark(_ id: String) -> String {
    var digest = Digest()
    digest.update(id)
    return String(digest.hexadecimal().prefix(8))
  }

  /// Takes the filter that picks a person, and returns the others.
  mutating func pick(_ filters: [RowFilter]) -> [RowFilter] {
    picked = filters.first { foldedHeader($0.column) == foldedHeader(column) }?.value
    return filters.filter { foldedHeader($0.column) != foldedHeader(column) }
  }

  /// Takes the filter that picks a person, for a format where nothing else can be picked.
  ///
  /// - Throws: `Failure` of category `usage` for another column.
  mutating func pickOnly(_ filters: [RowFilter], in title: String) throws {
    guard pick(filters).isEmpty else {
      throw Failure(.usage, "of \(title) --where picks a person: --where \(column)=1")
    }
  }

  mutating func note(_ id: String) {
    guard !id.isEmpty, ids.last != id, !ids.contains(id), ids.count < Self.maxPeople else { return }
    ids.append(id)
  }

  /// - Throws: `Failure` of category `badInput` for several people if none was picked.
  func settle(_ hint: ImportHint) throws {
    guard ids.count > 1, picked == nil else { return }
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

  /// What to do with an item of this person; an empty id is an item without a person.
  mutating func choice(_ id: String) -> Choice {
    note(id)
    guard let picked else {
      return id.isEmpty || ids.first == id ? .read : .refuse
    }
    // An id may be a number, which is then no place in the order.
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
  mutating func reads(_ id: String, _ row: Row, into out: inout Collector) -> Bool {
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
    return Failure(
      .badInput,
      "no person has the number or id of --where \(column); nothing was imported. The input names \(ids.count)"
    )
  }
}
