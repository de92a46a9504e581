// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The actions of people, recorded outside every store. Each value of an edit is a unique word, so that a
/// test can find whether the edit still exists.
///
/// A word may only disappear by a person who saw it: by an edit that replaced it, a deletion, a resolution,
/// or a restore.
struct Ledger {
  private(set) var written: [String: Set<String>] = [:]
  private(set) var retired: Set<String> = []
  private var counter = 0

  /// A new word for an edit of a record.
  mutating func word(for guid: String) -> String {
    counter += 1
    let word = "w\(counter)"
    written[guid, default: []].insert(word)
    return word
  }

  /// Moves words to a new record, as a person does.
  mutating func move(_ words: Set<String>, from guid: String, to copy: String) {
    written[guid]?.subtract(words)
    written[copy, default: []].formUnion(words)
  }

  /// Notes that a person who saw these words removed them.
  mutating func retire(_ words: some Sequence<String>) { retired.formUnion(words) }

  /// The words of a record that must exist somewhere.
  func requiredWords(of guid: String) -> Set<String> { written[guid, default: []].subtracting(retired) }
}

extension RecordState {
  /// The words in the fields of this state.
  var words: Set<String> {
    Set(fields.values.values.compactMap { if case .text(let word) = $0 { word } else { nil } })
  }
}

extension Ledger {
  /// The words of all records that must exist somewhere.
  var allOwed: Set<String> { written.values.reduce(into: Set()) { $0.formUnion($1) }.subtracting(retired) }

  /// Retires every word except these.
  mutating func keepOnly(_ words: Set<String>) { retire(allOwed.subtracting(words)) }
}
