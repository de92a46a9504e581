// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
package import LogbookStore
import SeededRandom
package import Sync

/// A simulated installation of glucoport: a store in a file, and at most one running upload.
package final class SimulatedNode {
  /// The name of the node in the journal of a world.
  package let name: String
  /// The connections to the store of the node.
  let connections: Connections
  /// The connection to the host with which the node syncs.
  package let remote: FaultyRemote
  /// The running upload; nil if no upload is running.
  package private(set) var session: UploadSession?
  /// Whether the node requests parts of the logbook, if the host offers them.
  var asksForParts = false
  /// Whether the last upload of the node ended because a person must choose one of two base zones.
  var isAskedForZone = false
  /// The time that the clock of this installation shows, in seconds since 1970.
  package var clock: Int64 = 1_800_000_000
  private var ids: SeededGenerator
  /// The records of the store from the last read; nil after each write.
  private var read: [String: SyncRecord]?

  /// An installation that uses an existing store.
  init(name: String, _ connections: Connections, _ remote: FaultyRemote, seed: UInt64) {
    self.name = name
    self.connections = connections
    self.remote = remote
    ids = SeededGenerator(seed: seed)
  }

  /// An installation with an empty store, connected to a server.
  package convenience init(
    _ template: Template, path: String, _ server: any SimulatedStorageHost, _ remote: FaultyRemote,
    seed: UInt64
  ) async throws {
    try template.writeStore(to: path)
    self.init(name: path, Connections(path: path), remote, seed: seed)
    try await connect(to: server, isNewRemote: false)
  }

  /// An installation that uses the store at a path.
  package convenience init(at path: String, _ remote: FaultyRemote, seed: UInt64) {
    self.init(name: path, Connections(path: path), remote, seed: seed)
  }

  /// The path of the store.
  package var path: String { connections.path }

  /// The store in the role of the sync engine.
  package func sync() throws -> Store { try connections.store(.sync) }

  /// The store in the role of commands that edit, hide and show items.
  package func editing() throws -> Store {
    read = nil
    return try connections.store(.editor)
  }

  /// The editor of the store's records.
  package func editor() throws -> RecordEditor {
    read = nil
    return RecordEditor(try connections.store(.editor), at: clock)
  }

  /// The resolver of the store's conflicts.
  package func resolver() throws -> RecordResolver {
    read = nil
    return RecordResolver(try connections.store(.resolver))
  }

  /// The store in the role of imports.
  package func importer() throws -> Store {
    read = nil
    return try connections.store(.importer)
  }

  /// Connects the store to a host.
  package func connect(to host: any SimulatedHost, isNewRemote: Bool) async throws {
    try sync().setRemote(host.access, logbook: await host.logbook(), isNewRemote: isNewRemote, at: clock)
    read = nil
  }

  /// Drops the running upload and its connection, as a crash does. Uncommitted data are lost.
  package func reopen() {
    session = nil
    connections.close(.sync)
    read = nil
  }

  /// The conflicts that a person must resolve. Most nodes have none, so the connection for resolving is
  /// opened only if it is needed.
  func conflicts() throws -> [RecordConflict] {
    let records = try records().values
    let parents = Set(records.compactMap { $0.state.isDeleted ? nil : $0.state.entryGuid })
    let waits = records.contains { $0.isConflicted || $0.state.isDeleted && parents.contains($0.guid) }
    return waits ? try resolver().conflicts() : []
  }

  /// Whether the next step of the upload is `begin`, in which the base zones of store and host are compared.
  var isJoining: Bool { session?.nextStep == .begin }

  /// The service that the node uses. Only some nodes request parts of the logbook. For other nodes, the
  /// service lacks the port `parts`.
  package var way: any LogbookService {
    asksForParts
      ? remote
      : ChosenPorts(
        remote, digests: remote.digests, attachments: remote.attachments, removal: remote.removal,
        moving: remote.moving)
  }

  /// Starts an upload. Does nothing if one is running.
  package func beginUpload(_ options: UploadOptions) throws {
    guard session == nil else { return }
    let (clock, random) = (clock, SharedGenerator(seed: ids.next()))
    session = UploadSession(
      try sync(), way, named: "simulation",
      options,
      UploadEnvironment(now: { clock }, makeID: { random.uuid() }, jitter: { 0.5 }))
  }

  /// Performs one step of the upload. Returns how the upload ended after its last step, and nil before.
  ///
  /// - Throws: the error of the store. The upload has then ended, as its process would.
  @discardableResult
  package func stepUpload() async throws -> UploadEnding? {
    // An event during the request may read the records, so the cache is cleared before and after the step.
    read = nil
    defer { read = nil }
    do {
      let ending = try await session?.step()
      if ending != nil { session = nil }
      return ending
    } catch {
      session = nil
      throw error
    }
  }

  /// Runs `work` while one SQL statement on the connection of `role` fails.
  ///
  /// - Parameter place: the number of the failing statement, counted from 1.
  /// - Returns: whether the statement with this number was reached and failed.
  @discardableResult
  package func failing(
    _ role: StoreRole, at place: Int, _ work: () async throws -> Void
  ) async throws -> Bool {
    let fault = try fault(role, at: place)
    defer { fault.end() }
    do {
      try await work()
    } catch  where fault.hasFailed {
      // The process of a real command would have ended at this point.
    }
    return fault.hasFailed
  }

  /// Makes one SQL statement on the connection of `role` fail, until the fault is ended. Statements are
  /// counted from 1.
  func fault(_ role: StoreRole, at place: Int) throws -> StatementFault {
    read = nil
    return StatementFault(try connections.store(role), at: place)
  }

  /// Clears the cache of records after a write through `sync()`.
  func forgetRead() { read = nil }

  /// All records in the store, by id.
  package func records() throws -> [String: SyncRecord] {
    if let read { return read }
    let records = try sync().compare { store in
      Dictionary(uniqueKeysWithValues: try store.allRecords().map { ($0.guid, $0) })
    }
    read = records
    return records
  }
}

/// A random generator for `@Sendable` closures. A test calls them only one at a time.
private final class SharedGenerator: @unchecked Sendable {
  // Safe: only one session uses the generator, and a session does one thing at a time.
  private var random: SeededGenerator
  init(seed: UInt64) { random = SeededGenerator(seed: seed) }
  func uuid() -> String { random.uuid() }
}
