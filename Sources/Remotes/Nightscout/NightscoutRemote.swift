// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import NIOHTTP1
import Nightscout

/// The client for a Nightscout site (cgm-remote-monitor 15). It uses API v3, and API v1 for many readings at
/// once. glucoport-nightscout(7) documents its guarantees and limits.
struct NightscoutRemote: RemoteKind {
  static let id = "nightscout"
  static let title = "Nightscout site"
  static let takesAttachments = false

  /// The maximum number of documents in one answer. A site may have a lower limit; see `fewDocuments`.
  static let maxDocuments = 1000
  /// The maximum number of documents that is requested from a site whose limit is lower than `maxDocuments`.
  private static let fewDocuments = 100

  /// The maximum numbers of items in a batch. Sending a record takes several requests, so a batch has one
  /// record. An acknowledged record stays acknowledged, even if sending the next one fails.
  let batchLimits = BatchLimits(readings: NightscoutRemote.maxInBulk, records: 1)

  var snapshots: (any SnapshotService)? { self }

  let session: NightscoutSession
  private(set) var zone: NightscoutZone
  /// The host, for messages.
  var hostName: String { address.host }
  private let address: RemoteAddress

  init(_ exchange: RemoteExchange, token: Token) { self.init(exchange, token: token, zone: nil) }

  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?) {
    session = NightscoutSession(exchange, token: token)
    address = exchange.address
    self.zone = NightscoutZone(zone: zone)
  }

  func convertingTimes(in zone: LogbookZone) -> any LogbookService {
    var remote = self
    remote.zone = NightscoutZone(zone: zone)
    return remote
  }

  /// False for every address, since none shows by itself that it belongs to a Nightscout site.
  static func recognises(_ address: RemoteAddress) -> Bool { false }

  /// The logbook of the site. A site has no id and holds the data of one person, so its address identifies
  /// the logbook.
  func logbook() async throws(ServiceError) -> RemoteLogbook {
    let rights = try await session.rights()
    if let missing = rights?.missing, missing.contains(where: { $0.hasSuffix(":read") }) {
      throw .loginRefused(
        "\(address.host): the role of the access token lacks \(missing.joined(separator: ", ")); add them to the role, separated by blanks"
      )
    }
    // This request shows whether the address belongs to a Nightscout site, and whether the login may read the
    // site.
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

  /// The reading in a document of this collection; nil if the document contains none.
  func reading(_ document: NightscoutDocument, of collection: NightscoutCollection) -> (Reading, Device)? {
    document.contents(of: collection, zone).reading
  }
}

// MARK: - Requests

extension NightscoutRemote {
  /// The result of looking up a document by its key.
  enum FoundDocument {
    case document(NightscoutDocument)
    case deleted
    case absent
  }

  static func path(_ collection: NightscoutCollection, _ rest: String = "") -> String {
    "/api/v3/\(collection.rawValue)\(rest)"
  }

  /// Looks up the document with the key `path`, which is escaped for URLs.
  func find(_ collection: NightscoutCollection, _ path: String) async throws(ServiceError) -> FoundDocument {
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
      // If a deleted and a valid document have the same key, the site may return the deleted one. Only a
      // search finds the valid one.
      let identifier = path.removingPercentEncoding ?? path
      return try await search(collection, [("identifier", identifier), ("limit", "1")])
        .first.map(FoundDocument.document) ?? .deleted
    case 404 where isOwn: return .absent
    default: throw await session.serviceError(for: answer)
    }
  }

  /// The valid documents that meet these conditions.
  func search(
    _ collection: NightscoutCollection, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> [NightscoutDocument] {
    try await documents(Self.path(collection), query)
  }

  /// The documents in a list. Documents without a usable key are left out.
  func documents(
    _ path: String, _ query: [(name: String, value: String)]
  ) async throws(ServiceError) -> [NightscoutDocument] {
    try await list(path, query).compactMap(NightscoutDocument.init)
  }

  /// At most `limit` documents of a list. If the limit of the site is lower, it is used and returned.
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
      throw await session.serviceError(for: answer)
    }
    return items
  }
}
