// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What people did, kept outside of every store: each value that an edit writes is a word that is nowhere else,
/// so that a test finds whether the edit is still there.
///
/// A word may vanish only by somebody who saw it: an edit that replaced it, a deletion, a resolution, a restore.
struct Ledger {
  private(set) var written: [String: Set<String>] = [:]
  private(set) var retired: Set<String> = []
  private var counter = 0

  /// A word for an edit of a record.
  mutating func word(for guid: String) -> String {
    counter += 1
    let word = "w\(counter)"
    written[guid, default: []].insert(word)
    return word
  }

  /// A person gave these words a record of their own.
  mutating func move(_ words: Set<String>, from guid: String, to copy: String) {
    written[guid]?.subtract(words)
    written[copy, default: []].formUnion(words)
  }

  /// Somebody who saw these words has taken them away.
  mutating func retire(_ words: some Sequence<String>) { retired.formUnion(words) }

  /// The words that have to be somewhere.
  func owed(of guid: String) -> Set<String> { written[guid, default: []].subtracting(retired) }
}

extension RecordState {
  /// The words in the fields of this state.
  var words: Set<String> {
    Set(fields.values.values.compactMap { if case .text(let word) = $0 { word } else { nil } })
  }
}

extension Ledger {
  /// The words of all records that have to be somewhere.
  var allOwed: Set<String> { written.values.reduce(into: Set()) { $0.formUnion($1) }.subtracting(retired) }

  /// Gives up every word but these.
  mutating func keepOnly(_ words: Set<String>) { retire(allOwed.subtracting(words)) }
}
