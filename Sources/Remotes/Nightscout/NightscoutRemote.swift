// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import NIOHTTP1
import Nightscout

/// A Nightscout site (cgm-remote-monitor 15), by its API v3, and by v1 where many readings go up at once. What it
/// promises and what it cannot is reported in glucoport-nightscout(7).
struct NightscoutRemote: RemoteKind {
  static let id = "nightscout"
  static let title = "Nightscout site"
  static let takesAttachments = false

  /// The most documents that a site gives at once, unless it is set lower there.
  static let maxDocuments = 1000
  /// What is asked for where it is.
  private static let fewDocuments = 100

  /// A record is a few separate requests, and is acknowledged by itself: what was answered stays answered, whatever
  /// becomes of the next one.
  let batchLimits = BatchLimits(readings: NightscoutRemote.maxInBulk, records: 1)

  var snapshots: (any SnapshotService)? { self }

  let session: NightscoutSession
  private(set) var zone: NightscoutZone
  /// For messages.
  var hostName: String { address.host }
  private let address: RemoteAddress

  init(_ exchange: RemoteExchange, token: Token) { self.init(exchange, token: token, zone: nil) }

  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?) {
    session = NightscoutSession(exchange, token: token)
    address = exchange.address
    self.zone = NightscoutZone(zone: zone)
  }

  func placing(in zone: LogbookZone) -> any LogbookService {
    var remote = self
    remote.zone = NightscoutZone(zone: zone)
    return remote
  }

  /// No address says that a site is one.
  static func recognises(_ address: RemoteAddress) -> Bool { false }

  /// A site has no id, and holds one person's data: it is known by its address.
  func logbook() async throws(ServiceError) -> RemoteLogbook {
    let rights = try await session.rights()
    if let missing = rights?.missing, missing.contains(where: { $0.hasSuffix(":read") }) {
      throw .loginRefused(
        "\(address.host): the role of the access token lacks \(missing.joined(separator: ", ")); add them to the role, separated by blanks"
      )
    }
    // Whether it is a site and lets this login read is seen where the first page is asked for.
    _ = try await search(.treatments, [("limit", "1")])
    let place = address.text.split(separator: "/", maxSplits: 1).last.map(String.init) ?? ""
    return RemoteLogbook(
      id: Digest.uuid(of: ["nightscout", place]), name: address.host, isWritable: rights?.maySend ?? true,
      maxReadings: batchLimits.readings, maxRecords: batchLimits.records,
      missingPermissions: rights?.missing ?? [], time: try await session.now() / 1000)
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    var identities: Set<ReadingIdentity> = []
    for collection in [NightscoutCollection.entries, .treatments] {
      var walk = NightscoutWalk.everything(of: collection)
      repeat {
        for document in try await next(&walk, limit: Self.maxDocuments) {
          if let (reading, device) = reading(document, of: collection) {
            identities.insert(ReadingIdentity(reading, device))
          }
        }
      } while !walk.isAtEnd
    }
    var digests = IdentityDigests()
    for identity in identities { digests.insert(identity.key) }
    return digests
  }

  /// The reading that a document of a collection holds.
  func reading(_ document: NightscoutDocument, of collection: NightscoutCollection) -> (Reading, Device)? {
    document.contents(of: collection, zone).reading
  }
}

// MARK: - Requests

extension NightscoutRemote {
  /// What a document's path answers.
  enum Found {
    case document(NightscoutDocument)
    case deleted
    case absent
  }

  static func path(_ collection: NightscoutCollection, _ rest: String = "") -> String {
    "/api/v3/\(collection.rawValue)\(rest)"
  }

  /// The document under a key, which is given as a path holds it.
  func find(_ collection: NightscoutCollection, _ path: String) async throws(ServiceError) -> Found {
    let answer = try await session.send(.GET, Self.path(collection, "/\(path)"))
    let isOwn = NightscoutAnswer.status(answer) != nil
    switch answer.status {
    case 200:
      guard let result = NightscoutAnswer.value(answer)?["result"], let document = NightscoutDocument(result)
      else {
        throw session.unknownAnswer
      }
      return document.isDeleted ? .deleted : .document(document)
    case 410 where isOwn:
      // Of two documents with one key a deleted one can answer for a valid one, which only a search shows.
      let identifier = path.removingPercentEncoding ?? path
      return try await search(collection, [("identifier", identifier), ("limit", "1")])
        .first.map(Found.document) ?? .deleted
    case 404 where isOwn: return .absent
    default: throw await session.problem(answer)
    }
  }

  /// Valid documents by a query.
  func search(
    _ collection: NightscoutCollection, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> [NightscoutDocument] {
    try await documents(Self.path(collection), query)
  }

  /// The documents of a list. Those without a key that a path could hold are left out, but counted for paging.
  func documents(
    _ path: String, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> [NightscoutDocument] {
    try await list(path, query).compactMap(NightscoutDocument.init)
  }

  /// A list of at most so many documents, or of fewer where the site gives no more at once.
  func list(
    _ path: String, _ query: [(name: String, value: String)], limit: Int
  ) async throws(ServiceError) -> (items: [JSONValue], limit: Int) {
    let answer = try await ask(path, query + [("limit", String(limit))])
    guard answer.status == 400, limit > Self.fewDocuments else { return (try await items(answer), limit) }
    let few = Self.fewDocuments
    return (try await list(path, query + [("limit", String(few))]), few)
  }

  func list(
    _ path: String, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> [JSONValue] {
    try await items(ask(path, query))
  }

  private func ask(
    _ path: String, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> ExchangeAnswer {
    let text = query.map { "\($0.name)=\(NightscoutDocument.escaped($0.value))" }.joined(separator: "&")
    return try await session.send(.GET, "\(path)?\(text)")
  }

  private func items(_ answer: ExchangeAnswer) async throws(ServiceError) -> [JSONValue] {
    guard answer.status == 200, let items = NightscoutAnswer.value(answer)?["result"]?.items else {
      throw await session.problem(answer)
    }
    return items
  }
}
