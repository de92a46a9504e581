// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
package import Logbook
import SQLiteRows

/// The result of comparing what an input states about its person with what earlier imports stated.
package enum PersonVerdict: Hashable, Sendable {
  /// The statements cannot be compared, for example because the input or the store states nothing.
  case unknown
  /// The compared statements name the same person.
  case same
  /// The compared statements name different people. The values describe the import that stated the other
  /// person: its number, its format, and when it began in UTC seconds.
  case other(ingest: Int64, format: String, startedAt: Int64)
}

extension Store {
  /// Whether an input is about the person of this store.
  package func verdict(on stated: [StatedPerson]) throws -> PersonVerdict {
    try read { try StatedPersons($0).verdict(on: stated) }
  }

  /// Whether another store is about the person of this store.
  package func verdict(onPersonOf other: Store) throws -> PersonVerdict {
    try other.read { theirs in try read { try StatedPersons($0).verdict(on: StatedPersons(theirs)) } }
  }

  /// Whether both stores have statements that could be compared, but only as digests with different salts. It
  /// is then unknown whether both stores are about one person.
  package func cannotComparePerson(with other: Store) throws -> Bool {
    try other.read { theirs in try read { try StatedPersons($0).isIncomparable(with: StatedPersons(theirs)) }
    }
  }
}

/// What the imports of a store stated about the person. Imports that were undone are left out.
struct StatedPersons {
  private struct StoredStatement {
    let kind: Int
    let place: String
    let salt: String
    let words: Set<String>
    let ingest: Int64
    let format: String
    let startedAt: Int64

    var isOfAccount: Bool { kind == StatedPerson.StatementKind.name.rawValue && !place.isEmpty }
  }

  /// A statement about a person that is compared with all statements in the store.
  private struct ComparedStatement {
    let kind: Int
    let place: String
    /// Returns the digests of the statement's words with a given salt; nil if the store has them only with
    /// another salt.
    let words: (String) -> Set<String>?
  }

  private let database: Database
  private let ingest: Int64?

  /// - Parameter ingest: leaves out the statements of this import and of imports that failed.
  init(_ database: Database, finishedBefore ingest: Int64? = nil) {
    (self.database, self.ingest) = (database, ingest)
  }

  /// Compares what an input states about its person with what earlier imports stated. The verdict is `same`
  /// if a name agrees, or if an id or a date of birth is equal. A date of birth is compared before the name,
  /// which can change by marriage. The name is compared before an id, since each clinic has its own ids.
  ///
  /// Names of accounts are not compared: a parent or a clinician makes the exports of several people.
  func verdict(on stated: [StatedPerson]) throws -> PersonVerdict {
    try verdict(
      on: stated.filter { !$0.isOfAccount }.map { one in
        ComparedStatement(kind: one.kind.rawValue, place: one.place) { Self.digests(one, $0) }
      })
  }

  /// The verdict on what the imports of another store stated. Only copies of one store have the same salt, so
  /// the statements of other stores cannot be compared.
  func verdict(on other: StatedPersons) throws -> PersonVerdict {
    try verdict(
      on: other.storedPersons().filter { !$0.isOfAccount }.map { one in
        ComparedStatement(kind: one.kind, place: one.place) { $0 == one.salt ? one.words : nil }
      })
  }

  func isIncomparable(with other: StatedPersons) throws -> Bool {
    let (mine, theirs) = (try storedPersons(), try other.storedPersons())
    guard Set(mine.map(\.salt)).isDisjoint(with: theirs.map(\.salt)) else { return false }
    return mine.contains { one in
      !one.isOfAccount && theirs.contains { $0.kind == one.kind && $0.place == one.place }
    }
  }

  private func verdict(on candidates: [ComparedStatement]) throws -> PersonVerdict {
    let known = try candidates.isEmpty ? [] : storedPersons()
    var other: StoredStatement?
    for kind in [StatedPerson.StatementKind.birthDate, .name, .id] {
      for one in candidates where one.kind == kind.rawValue {
        for former in known where former.kind == one.kind && former.place == one.place {
          guard let words = one.words(former.salt) else { continue }
          if StatedPerson.agree(former.words, words) { return .same }
          other = other ?? former
        }
      }
      if kind == .birthDate, let other { return Self.verdict(other) }
    }
    return other.map(Self.verdict) ?? .unknown
  }

  private static func verdict(_ known: StoredStatement) -> PersonVerdict {
    .other(ingest: known.ingest, format: known.format, startedAt: known.startedAt)
  }

  /// The first import that names another account than these statements. Nil if an import already names their
  /// account, so that each account is reported only once.
  func importOfOtherAccount(than stated: [StatedPerson]) throws -> Int64? {
    let accounts = stated.filter(\.isOfAccount)
    let known = try accounts.isEmpty ? [] : storedPersons().filter(\.isOfAccount)
    for account in accounts {
      let former = known.filter { $0.place == account.place }
      let isKnown = former.contains { StatedPerson.agree($0.words, Self.digests(account, $0.salt)) }
      if let first = former.first, !isKnown { return first.ingest }
    }
    return nil
  }

  /// Stores salted digests of what an import states.
  func add(_ stated: [StatedPerson], ingest: Int64) throws {
    guard !stated.isEmpty else { return }
    let salt = try Store.setting(.personSalt, database) ?? makeSalt()
    for one in stated {
      try insert(one.kind.rawValue, one.place, salt, Self.digests(one, salt), ingest: ingest)
    }
  }

  /// Stores what the imports of another store stated, as digests with the salts of that store.
  func add(_ other: StatedPersons, ingest: Int64) throws {
    for one in try other.storedPersons() {
      try insert(one.kind, one.place, one.salt, one.words, ingest: ingest)
    }
  }

  private func insert(_ kind: Int, _ place: String, _ salt: String, _ words: Set<String>, ingest: Int64)
    throws
  {
    try database.executeCached(
      sql: """
        INSERT INTO stated_person (ingest, kind, place, salt, words) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
      arguments: [ingest, kind, place, salt, words.sorted().joined(separator: " ")])
  }

  private func makeSalt() throws -> String {
    let salt = (0..<2).map { _ in UUID().uuidString.lowercased() }.joined()
    try Store.set(.personSalt, salt, database)
    return salt
  }

  private func storedPersons() throws -> [StoredStatement] {
    try Row.fetchAll(
      database,
      sql: """
        SELECT p.kind, p.place, p.salt, p.words, p.ingest, ingest.format, ingest.started_at
        FROM stated_person AS p JOIN ingest ON ingest.id = p.ingest
        WHERE NOT \(ImportContribution.isUndone)
          AND (?1 IS NULL OR p.ingest <> ?1 AND ingest.outcome IN ('whole', 'truncated'))
        ORDER BY p.ingest
        """, arguments: [ingest]
    ).map { row in
      let row = StoredRow(row, of: "stated_person")
      let words: String = try row[3]
      return StoredStatement(
        kind: try row[0], place: try row[1], salt: try row[2],
        words: Set(words.split(separator: " ").map(String.init)), ingest: try row[4], format: try row[5],
        startedAt: try row[6])
    }
  }

  private static func digests(_ stated: StatedPerson, _ salt: String) -> Set<String> {
    Set(
      stated.words.map { word in
        var digest = Digest()
        for part in [salt, String(stated.kind.rawValue), stated.place, word] {
          digest.update("\(part.utf8.count):\(part)")
        }
        return String(digest.hexadecimal().prefix(32))
      })
  }
}
