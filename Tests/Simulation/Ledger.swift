// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Records the edits of simulated people, outside of all stores. Each edit writes a unique word, so that a
/// test can check whether the edit still exists.
///
/// A word may disappear only if a person who saw it edited, deleted, resolved or restored the record.
struct Ledger {
  private(set) var written: [String: Set<String>] = [:]
  private(set) var retired: Set<String> = []
  private var counter = 0

  /// Makes a unique word for an edit of a record.
  mutating func word(for guid: String) -> String {
    counter += 1
    let word = "w\(counter)"
    written[guid, default: []].insert(word)
    return word
  }

  /// Moves words from one record to its copy. This happens when a person keeps both sides of a conflict.
  mutating func move(_ words: Set<String>, from guid: String, to copy: String) {
    written[guid]?.subtract(words)
    written[copy, default: []].formUnion(words)
  }

  /// Notes that a person saw these words and removed them.
  mutating func retire(_ words: some Sequence<String>) { retired.formUnion(words) }

  /// The words of a record that a store or the server must still have.
  func requiredWords(of guid: String) -> Set<String> { written[guid, default: []].subtracting(retired) }
}

extension RecordState {
  /// All words in the text fields of this state.
  var words: Set<String> {
    Set(fields.values.values.compactMap { if case .text(let word) = $0 { word } else { nil } })
  }
}

extension Ledger {
  /// The words of all records that a store or the server must still have.
  var allOwed: Set<String> { written.values.reduce(into: Set()) { $0.formUnion($1) }.subtracting(retired) }

  /// Marks all words except these as removed by a person.
  mutating func keepOnly(_ words: Set<String>) { retire(allOwed.subtracting(words)) }
}
