// SPDX-License-Identifier: Apache-2.0

/// The number and the duration of SQL statements, by kind. Parameters of statements are not contained.
struct StatementTimes: Sendable {
  /// The number of SQL statements of one kind, and their total time, which includes the network.
  struct Total: Hashable, Sendable {
    var time = Duration.zero
    var count = 0
  }

  /// The totals by kind, such as `insert reading`.
  private(set) var totals: [String: Total] = [:]

  /// Adds the time of one SQL statement. Failed statements are counted, too.
  mutating func add(_ time: Duration, _ kind: String) {
    totals[kind, default: Total()].time += time
    totals[kind, default: Total()].count += 1
  }

  mutating func add(_ other: StatementTimes) {
    for (kind, total) in other.totals {
      totals[kind, default: Total()].time += total.time
      totals[kind, default: Total()].count += total.count
    }
  }
}

extension StatementTimes {
  /// The prefix of the kind of SQL statements that begin a transaction and lock a row.
  static let lock = "lock "

  private static let schema = "glucoport."

  /// The kind of an SQL statement: a verb and a table. If the statement has several verbs, the first one that
  /// changes a table is used, with this table. If none changes a table, the table is the first one outside of
  /// subqueries.
  static func kind(of statement: String) -> String {
    var (depth, words) = (0, ["", ""])
    var read: (table: String, depth: Int)?
    for word in Words(statement) {
      if word == "(" || word == ")" {
        depth += word == "(" ? 1 : -1
      } else if word.hasPrefix(schema) {
        let table = String(word.dropFirst(schema.count))
        if words[1] == "INTO" { return "insert \(table)" }
        if words[1] == "UPDATE" { return "update \(table)" }
        if words == ["DELETE", "FROM"] { return "delete \(table)" }
        if depth < read?.depth ?? .max { read = (table, depth) }
      }
      words = [words[1], word]
    }
    return read.map { "select \($0.table)" } ?? "select"
  }

  /// Iterates over the words and parentheses of an SQL statement.
  private struct Words: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    mutating func next() -> String? {
      rest = rest.drop { !Self.isLetter($0) && !Self.isParenthesis($0) }
      guard let first = rest.first else { return nil }
      let word = Self.isParenthesis(first) ? rest.prefix(1) : rest.prefix(while: Self.isLetter)
      rest = rest[word.endIndex...]
      return String(Substring(word))
    }

    private static func isParenthesis(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "(") || byte == UInt8(ascii: ")")
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), UInt8(ascii: "."):
        true
      default: false
      }
    }
  }
}
