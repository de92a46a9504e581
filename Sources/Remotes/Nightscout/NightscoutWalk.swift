// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// Walks through documents in ascending order of one member, page by page. To lose none with equal values, documents
/// with the largest value of a full page are left for the next page.
struct NightscoutWalk: Codable, Hashable, Sendable {
  /// The order of the walk.
  enum Order: String, Codable, Sendable {
    /// By the server's marks of change, including tombstones.
    case history
    /// By the time of the event; valid documents only.
    case event
  }

  let collection: NightscoutCollection
  let order: Order
  /// The value after which the next page begins.
  var position: String
  /// Whether the walk is complete.
  var isAtEnd = false

  /// Every valid document of a collection.
  static func everything(of collection: NightscoutCollection) -> NightscoutWalk {
    events(of: collection, from: NightscoutTime.minMilliseconds)
  }

  /// The valid documents with a later time.
  static func events(of collection: NightscoutCollection, from time: Int64) -> NightscoutWalk {
    NightscoutWalk(
      collection: collection, order: .event,
      position: collection == .entries ? String(time) : NightscoutTime.utcText(time))
  }

  /// Documents stored later.
  static func history(of collection: NightscoutCollection, from time: Int64) -> NightscoutWalk {
    NightscoutWalk(
      collection: collection, order: .history, position: String(max(time, NightscoutTime.minMilliseconds)))
  }

  /// The member with ascending values.
  var member: String { order == .history ? "srvModified" : collection.timeName }

  /// The documents to use from a page, and whether all of them have the same value. In that case there may be more than
  /// the page shows.
  mutating func take(_ page: [JSONValue], limit: Int) -> (taken: ArraySlice<JSONValue>, isTie: Bool) {
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
  private static let maxTiedPages = 100

  /// The next documents of a walk.
  ///
  /// - Parameter run: in the order of events, documents of this run are left out.
  func next(
    _ walk: inout NightscoutWalk, limit: Int, without run: String? = nil
  ) async throws(ServiceError) -> [NightscoutDocument] {
    // A page of one document cannot show ties.
    let limit = min(max(limit, 2), Self.maxDocuments)
    let answer =
      switch walk.order {
      case .history:
        try await list(Self.path(walk.collection, "/history/\(walk.position)"), [], limit: limit)
      case .event:
        try await list(
          Self.path(walk.collection),
          [("\(walk.member)$gt", walk.position), ("sort", walk.member)] + Self.without(run), limit: limit)
      }
    let (taken, isTie) = walk.take(answer.items, limit: answer.limit)
    let found = isTie ? try await tied(walk) : Array(taken)
    return found.compactMap(NightscoutDocument.init)
  }

  private static func without(_ run: String?) -> [(name: String, value: String)] {
    run.map { [("\(NightscoutDocument.ownName).run$ne", $0)] } ?? []
  }

  /// All documents with one value, which may exceed a page. The history has no second page for a value; the search has,
  /// but without tombstones.
  private func tied(_ walk: NightscoutWalk) async throws(ServiceError) -> [JSONValue] {
    var all: [JSONValue] = []
    for _ in 0..<Self.maxTiedPages {
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
