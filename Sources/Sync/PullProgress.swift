// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The progress of a run's pages. It detects a remote without an end, by mistake or on purpose, for all kinds of
/// remotes: the client trusts no cursor.
struct PullProgress {
  /// The maximum number of pages of one run. A page holds up to 10,000 items, and the next run continues.
  static let maxPages = 10_000
  /// The maximum number of consecutive empty pages. A glucoport server skips 50,000 changes of the node itself with each.
  static let maxEmptyPages = 1000

  private(set) var pages = 0
  private var emptyPages = 0
  /// Hashes of the cursors so far, each with its download, since a cursor may be long.
  private var cursors: Set<Int> = []

  /// Whether the run fetched the maximum number of pages.
  var isExhausted: Bool { pages >= Self.maxPages }

  /// The fault of a page that is not applied yet; nil if there is none.
  ///
  /// - Parameters:
  ///   - cursor: the cursor with which it was requested.
  ///   - id: distinguishes the lists whose pages a run reads.
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

  /// Counts an applied page.
  mutating func note(_ page: ChangePage, in id: Int64) {
    pages += 1
    emptyPages = page.isEmpty ? emptyPages + 1 : 0
    if page.hasMore { cursors.insert(Self.hash(page.cursor, id)) }
  }

  /// Restarts for another fetch of everything, in which the same cursors may occur again.
  mutating func startOver() { (emptyPages, cursors) = (0, []) }

  private static func hash(_ cursor: String, _ id: Int64) -> Int {
    var hasher = Hasher()
    hasher.combine(id)
    hasher.combine(cursor)
    return hasher.finalize()
  }
}

extension ChangePage {
  /// Whether it has no items.
  fileprivate var isEmpty: Bool { readings.readings.isEmpty && records.isEmpty && notTaken.isEmpty }
}
