// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes
import Synchronization
import TestServers

/// The kind of host with which the nodes of a world sync.
package enum HostKind: String, Sendable {
  /// A glucoport server.
  case server
  /// A Nightscout site.
  case site
}

/// A simulated Nightscout site for nodes. The code of the remote is real, the network is faulty, and a
/// `NightscoutStandIn` answers as the site.
final class SimulatedSite: SimulatedHost {
  /// The site's clock at the start of a simulation, in milliseconds. It is some hours after all simulated
  /// events. The remote checks only the last two days, so the events must not become older than that.
  static let start: Int64 = 1_700_020_000_000

  let site: NightscoutStandIn
  let network: SiteNetwork
  private let number: Int
  private let login: RemoteLogin
  private let app: String

  init(number: Int, seed: UInt64, isUnreliable: Bool) throws {
    self.number = number
    let site = NightscoutStandIn(withoutWireAt: Self.start)
    self.site = site
    network = SiteNetwork(site, seed: seed, isUnreliable: isUnreliable)
    let rights = ["api:entries:create,read,update,delete", "api:treatments:create,read,update,delete"]
    let token = site.addSubject("nodes", rights: rights)
    app = site.addSubject("app", rights: rights)
    login = RemoteLogin(
      address: try RemoteAddress("http://localhost/\(number)", allowsPlainHTTP: false),
      token: try Token(firstLineOf: Array(token.utf8), origin: "world"), agent: "simulation")
    // This treatment is older than all others. While it exists, the remote knows that Nightscout's autoprune
    // has deleted nothing.
    site.put(["eventType": "Site Change", "created_at": "2023-10-01T00:00:00.000Z"], in: "treatments")
  }

  /// Advances the site's clock.
  func moveClock(by milliseconds: Int64) { site.moveClock(by: milliseconds) }

  var access: RemoteAccess {
    RemoteAccess(kind: "nightscout", url: "http://localhost/\(number)", token: .file("/none"))
  }

  func connection() -> @Sendable () -> any LogbookService {
    let remote = SiteRemote { try self.remote(over: self.network) }
    return { remote }
  }

  func logbook() async throws -> RemoteLogbook { try await observer().logbook() }

  /// The logbook as a node without a store sees it. It contains no tombstones.
  func everything() async throws -> (readings: Int, records: [RemoteRecord]) {
    let observer = try observer()
    var (readings, records, cursor) = (0, [RemoteRecord](), String?.none)
    while let page = try await observer.changes(after: cursor, limit: 1000, Self.observing) {
      readings += page.readings.readings.count
      records += page.records.filter { !$0.state.isDeleted }
      cursor = page.cursor
      if !page.hasMore { break }
    }
    try checkNothingTwice()
    return (readings, records)
  }

  func digests() async throws -> IdentityDigests { try await observer().readingDigests(Self.observing) }

  /// Installs the site again, which invalidates all earlier tokens.
  func restart() async throws { site.redeploy() }

  /// A restored site does not report that it was restored. After such a restore, no rule can be checked, so
  /// backups are not simulated.
  func takeBackup() async throws {}
  func restoreBackup() async throws -> Bool { false }

  /// Sends a request of another program through API v3. Returns the HTTP status.
  @discardableResult
  func requestAsApp(_ method: String, _ path: String, _ body: DocumentValue? = nil) throws -> Int {
    let reply = site.reply(ReceivedRequest(method: "GET", path: "/api/v2/authorization/request/\(app)"))
    let token = try DocumentValue(json: reply.body)["token"]?.text ?? ""
    let bytes = Array((body?.json ?? "").utf8)
    let request = ReceivedRequest(
      method: method, path: "/api/v3/treatments\(path)",
      headers: [
        "authorization": "Bearer \(token)", "content-type": "application/json",
        "content-length": String(bytes.count),
      ],
      body: bytes)
    return site.reply(request).status
  }

  private static let observing = RunStamp(
    node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: "ffffffff-ffff-ffff-ffff-ffffffffffff")

  /// A connection without faults, which only checks use.
  func observer() throws -> any LogbookService { try remote(over: SiteWire(site: site)) }

  private func remote(over transport: any HTTPTransport) throws -> any LogbookService {
    try RemoteRegister.remote("nightscout", login, over: transport)
  }

  /// Checks that no two valid documents have the same key or the same record.
  private func checkNothingTwice() throws {
    for collection in ["entries", "treatments"] {
      let valid = site.documents(collection).filter { $0["isValid"] != false }
      let keys = valid.compactMap { $0["identifier"]?.text }
      guard Set(keys).count == keys.count else { throw Broken("site: a key stands twice in \(collection)") }
      let records = valid.filter { $0["glucoport"]?["moved"] == nil }.flatMap { document in
        document["glucoport"]?["parts"]?.array?.compactMap { $0["guid"]?.text } ?? []
      }
      guard Set(records).count == records.count else { throw Broken("site: a record stands twice") }
    }
  }
}

/// The remote that one node uses. It logs in again for each upload, as a separate process does.
private actor SiteRemote: LogbookService, MovingService, RemovalService {
  private let zone = Mutex<LogbookZone?>(nil)
  private let make: @Sendable () throws -> any LogbookService
  private var current: (run: String, remote: any LogbookService)?

  init(_ make: @escaping @Sendable () throws -> any LogbookService) { self.make = make }

  nonisolated var moving: (any MovingService)? { self }
  nonisolated var removal: (any RemovalService)? { self }

  nonisolated func convertingTimes(in zone: LogbookZone) -> any LogbookService {
    self.zone.withLock { $0 = zone }
    return self
  }

  func logbook() async throws(ServiceError) -> RemoteLogbook { try await remote("").logbook() }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await remote(run.id).store(batch, run)
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await remote(run.id).apply(changes, run)
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(ServiceError) -> ChangePage? {
    try await remote(run.id).changes(after: cursor, limit: limit, run)
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await remote(run.id).readingDigests(run)
  }

  func instants(of batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> [[Int64]] {
    try await port(\.moving, run).instants(of: batch, run)
  }

  func move(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) -> RecordVerdict {
    try await port(\.moving, run).move(change, run)
  }

  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool {
    try await port(\.removal, run).remove(batch, run)
  }

  func remove(_ change: RecordChange, _ run: RunStamp) async throws(ServiceError) {
    try await port(\.removal, run).remove(change, run)
  }

  private func port<Port>(
    _ port: (any LogbookService) -> Port?, _ run: RunStamp
  ) throws(ServiceError) -> Port {
    guard let port = port(try remote(run.id)) else { throw .protocolViolation("the site lacks a port") }
    return port
  }

  /// The remote for a run. If an upload has set a zone, the remote uses this zone for shown times.
  private func remote(_ run: String) throws(ServiceError) -> any LogbookService {
    let remote = try session(run)
    return zone.withLock { $0 }.map { remote.convertingTimes(in: $0) } ?? remote
  }

  private func session(_ run: String) throws(ServiceError) -> any LogbookService {
    if let current, current.run == run { return current.remote }
    do {
      let remote = try make()
      current = (run, remote)
      return remote
    } catch {
      throw .protocolViolation("\(error)")
    }
  }
}
