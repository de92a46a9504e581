// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Reads documents page by page, in ascending order of one member. Documents with the largest value of a full
/// page are left for the next page, since further documents may have the same value.
struct NightscoutWalk: Codable, Hashable, Sendable {
  /// The member by which a walk orders the documents.
  enum Order: String, Codable, Sendable {
    /// The order of `srvModified`, which includes tombstones.
    case history
    /// The order of events, with valid documents only.
    case event
  }

  let collection: NightscoutCollection
  let order: Order
  /// The value after which the next page begins.
  var position: String
  /// Whether the walk is complete.
  var isAtEnd = false

  /// A walk over all valid documents of a collection.
  static func everything(of collection: NightscoutCollection) -> NightscoutWalk {
    events(of: collection, from: NightscoutTime.minMilliseconds)
  }

  /// A walk over the valid documents whose events are after this time.
  static func events(of collection: NightscoutCollection, from time: Int64) -> NightscoutWalk {
    NightscoutWalk(
      collection: collection, order: .event,
      position: collection == .entries ? String(time) : NightscoutTime.utcText(time))
  }

  /// A walk over the documents that were stored or deleted after this time.
  static func history(of collection: NightscoutCollection, from time: Int64) -> NightscoutWalk {
    NightscoutWalk(
      collection: collection, order: .history, position: String(max(time, NightscoutTime.minMilliseconds)))
  }

  /// The name of the member with ascending values.
  var member: String { order == .history ? "srvModified" : collection.timeName }

  /// The documents of a page that are used, and whether all documents of the page have the same value. If so,
  /// the site may have more documents with this value than fit on the page.
  mutating func selectDocuments(of page: [JSONValue], limit: Int) -> (
    taken: ArraySlice<JSONValue>, isTie: Bool
  ) {
    guard page.count >= limit, let last = page.last.map(value) else {
      isAtEnd = page.count < limit
      if let last = page.last.map(value) { position = last }
      return (page[...], false)
    }
    let taken = page.prefix { value($0) != last }
    guard let end = taken.last.map(value) else {
      position = last
      return ([], true)
    }
    position = end
    return (taken, false)
  }

  private func value(_ document: JSONValue) -> String {
    switch document[member] {
    case .number(let number): plainNumber(number)
    case .text(let text): text
    default: position
    }
  }
}

extension NightscoutRemote {
  private static let maxPagesOfSameValue = 100

  /// Reads the next documents of a walk.
  ///
  /// - Parameter run: the id of a run whose documents are left out of a walk in the order of events; nil to
  ///   leave out none.
  func next(
    _ walk: inout NightscoutWalk, limit: Int, without run: String? = nil
  ) async throws(ServiceError) -> [NightscoutDocument] {
    // With a page of one document, documents with equal values would not be noticed.
    let limit = min(max(limit, 2), Self.maxDocuments)
    let answer =
      switch walk.order {
      case .history:
        try await list(Self.path(walk.collection, "/history/\(walk.position)"), [], limit: limit)
      case .event:
        try await list(
          Self.path(walk.collection),
          [("\(walk.member)$gt", walk.position), ("sort", walk.member)] + Self.excluding(run), limit: limit)
      }
    let (taken, isTie) = walk.selectDocuments(of: answer.items, limit: answer.limit)
    let found = isTie ? try await documentsOfSameValue(walk) : Array(taken)
    return found.compactMap(NightscoutDocument.init)
  }

  private static func excluding(_ run: String?) -> [(name: String, value: String)] {
    run.map { [("\(NightscoutDocument.ownName).run$ne", $0)] } ?? []
  }

  /// All documents with the same value, which may be more than fit on a page. The history returns only one
  /// page for a value. A search returns several pages, but without tombstones.
  private func documentsOfSameValue(_ walk: NightscoutWalk) async throws(ServiceError) -> [JSONValue] {
    var all: [JSONValue] = []
    for _ in 0..<Self.maxPagesOfSameValue {
      let page = try await list(
        Self.path(walk.collection),
        [(walk.member, walk.position), ("sort", "identifier"), ("skip", String(all.count))],
        limit: Self.maxDocuments)
      all += page.items
      if page.items.count < page.limit { return all }
    }
    throw session.violation("it returned an impossible number of documents for one moment")
  }
}
