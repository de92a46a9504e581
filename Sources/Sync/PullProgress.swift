// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Counts the pages of changes that an upload pulls, to detect a remote whose list of changes never ends, by
/// mistake or on purpose. All kinds of remotes are checked, since no remote's cursor is trusted.
struct PullProgress {
  /// The maximum number of pages in one upload. A page has up to 10,000 items, and the next upload continues.
  static let maxPages = 10_000
  /// The maximum number of consecutive empty pages. A glucoport server returns an empty page for each 50,000
  /// changes that this node itself made.
  static let maxEmptyPages = 1000

  private(set) var pages = 0
  private var emptyPages = 0
  /// Hashes of all cursors so far, each combined with the id of its list. Hashes are kept, since a cursor may
  /// be long.
  private var cursors: Set<Int> = []

  /// Whether the upload has pulled the maximum number of pages.
  var isExhausted: Bool { pages >= Self.maxPages }

  /// Returns what is wrong with a page that is not applied yet; nil if nothing is wrong.
  func fault(of page: ChangePage, after cursor: String?, in id: Int64) -> String? {
    guard page.hasMore else { return nil }
    if page.cursor == cursor || cursors.contains(Self.hash(page.cursor, id)) {
      return "its list of changes does not end: a page repeats the cursor of an earlier one"
    }
    if page.isEmpty, emptyPages >= Self.maxEmptyPages {
      return "its list of changes does not end: \(Self.maxEmptyPages) pages in a row are empty"
    }
    return nil
  }

  /// Counts a page after it was applied.
  mutating func count(_ page: ChangePage, in id: Int64) {
    pages += 1
    emptyPages = page.isEmpty ? emptyPages + 1 : 0
    if page.hasMore { cursors.insert(Self.hash(page.cursor, id)) }
  }

  /// Forgets all cursors, since everything is pulled again and the same cursors may return.
  mutating func startOver() { (emptyPages, cursors) = (0, []) }

  private static func hash(_ cursor: String, _ id: Int64) -> Int {
    var hasher = Hasher()
    hasher.combine(id)
    hasher.combine(cursor)
    return hasher.finalize()
  }
}

extension ChangePage {
  /// Whether the page has no items.
  fileprivate var isEmpty: Bool { readings.readings.isEmpty && records.isEmpty && notTaken.isEmpty }
}
