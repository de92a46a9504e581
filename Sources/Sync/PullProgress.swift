// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How far the pages of one run have come. A remote that never comes to an end, by mistake or on purpose, is found here
/// for all kinds of remotes: the client believes nothing that a cursor says.
struct PullProgress {
  /// The most pages of one run; a page holds up to 10,000 items. The next run continues.
  static let maxPages = 10_000
  /// Pages in a row without an item. A glucoport server passes over 50,000 of the node's own changes with each.
  static let maxEmptyPages = 1000

  private(set) var pages = 0
  private var emptyPages = 0
  /// Hashes of the cursors that were met, each with the download that it belongs to: a cursor may be long.
  private var cursors: Set<Int> = []

  /// Whether the run fetched as many pages as one may.
  var isExhausted: Bool { pages >= Self.maxPages }

  /// What is wrong with a page before it is applied; nil where it leads on.
  ///
  /// - Parameters:
  ///   - cursor: the one that it was requested with.
  ///   - id: distinguishes the lists of which a run reads pages.
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

  /// Counts a page that was applied.
  mutating func note(_ page: ChangePage, in id: Int64) {
    pages += 1
    emptyPages = page.isEmpty ? emptyPages + 1 : 0
    if page.hasMore { cursors.insert(Self.hash(page.cursor, id)) }
  }

  /// Everything is fetched from the start again, where the same cursors come again.
  mutating func startOver() { (emptyPages, cursors) = (0, []) }

  private static func hash(_ cursor: String, _ id: Int64) -> Int {
    var hasher = Hasher()
    hasher.combine(id)
    hasher.combine(cursor)
    return hasher.finalize()
  }
}

extension ChangePage {
  /// Whether it brings nothing at all.
  fileprivate var isEmpty: Bool { readings.readings.isEmpty && records.isEmpty && notTaken.isEmpty }
}
