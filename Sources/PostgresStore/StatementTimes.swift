// SPDX-License-Identifier: Apache-2.0

/// How often statements ran and how long, by kind. It has no parameter of a statement.
struct StatementTimes: Sendable {
  /// The number of statements of one kind, and their time with the way to the database and back.
  struct Total: Hashable, Sendable {
    var time = Duration.zero
    var count = 0
  }

  /// By kind, such as `insert reading`.
  private(set) var totals: [String: Total] = [:]

  /// Adds one statement, also one that failed.
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
  /// The kind of the statements that begin a transaction and lock a row begins with this.
  static let lock = "lock "

  private static let schema = "glucoport."

  /// What a statement does, and to which table: of several, the first one that it changes, or the first one of a query
  /// outside of its subqueries.
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

  /// The words of a statement, and its parentheses.
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
