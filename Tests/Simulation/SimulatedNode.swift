// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
package import LogbookStore
import SeededRandom
package import Sync

/// One installation: a store in a file, and at most one upload at a time.
package final class SimulatedNode {
  /// The name in a journal.
  package let name: String
  /// The connections to its store.
  let connections: Connections
  /// The connection to its server.
  package let remote: FaultyRemote
  /// The running upload; nil for none.
  package private(set) var session: UploadSession?
  /// Whether the node requests parts of the logbook from a host that has them.
  var asksForParts = false
  /// Whether the node's last run ended because a person must choose between two base zones.
  var isAskedForZone = false
  /// The host's clock.
  package var clock: Int64 = 1_800_000_000
  private var ids: SeededGenerator
  /// The records when they were last read; nil after a write.
  private var read: [String: SyncRecord]?

  /// An installation with an existing store.
  init(name: String, _ connections: Connections, _ remote: FaultyRemote, seed: UInt64) {
    self.name = name
    self.connections = connections
    self.remote = remote
    ids = SeededGenerator(seed: seed)
  }

  /// An installation with its own store, connected to a server.
  package convenience init(
    _ template: Template, path: String, _ server: any SimulatedStorageHost, _ remote: FaultyRemote,
    seed: UInt64
  ) async throws {
    try template.writeStore(to: path)
    self.init(name: path, Connections(path: path), remote, seed: seed)
    try await connect(to: server, isNewRemote: false)
  }

  /// An installation with an existing store.
  package convenience init(at path: String, _ remote: FaultyRemote, seed: UInt64) {
    self.init(name: path, Connections(path: path), remote, seed: seed)
  }

  /// The file of the store.
  package var path: String { connections.path }

  /// The store as opened by the engine.
  package func sync() throws -> Store { try connections.store(.sync) }

  /// The store as opened by commands that hide and show.
  package func editing() throws -> Store {
    read = nil
    return try connections.store(.editor)
  }

  /// The editor of its records.
  package func editor() throws -> RecordEditor {
    read = nil
    return RecordEditor(try connections.store(.editor), at: clock)
  }

  /// The resolver of its conflicts. Its connection is also used for edits.
  package func resolver() throws -> RecordResolver {
    read = nil
    return RecordResolver(try connections.store(.resolver))
  }

  /// The store as opened by imports.
  package func importer() throws -> Store {
    read = nil
    return try connections.store(.importer)
  }

  /// Sets the remote.
  package func connect(to host: any SimulatedHost, isNewRemote: Bool) async throws {
    try sync().setRemote(host.access, logbook: await host.logbook(), isNewRemote: isNewRemote, at: clock)
    read = nil
  }

  /// Ends the upload and opens its connection again, as after a crash. Uncommitted data are lost.
  package func reopen() {
    session = nil
    connections.close(.sync)
    read = nil
  }

  /// The conflicts that need a person. Few nodes have any, and only those need the connection that resolves
  /// them.
  func conflicts() throws -> [RecordConflict] {
    let records = try records().values
    let parents = Set(records.compactMap { $0.state.isDeleted ? nil : $0.state.entryGuid })
    let waits = records.contains { $0.isConflicted || $0.state.isDeleted && parents.contains($0.guid) }
    return waits ? try resolver().conflicts() : []
  }

  /// Whether the next step agrees on the base zone.
  var isJoining: Bool { session?.nextStep == .begin }

  /// The service with which it syncs. A host may have parts of the logbook, but only some nodes request them.
  package var way: any LogbookService {
    asksForParts
      ? remote
      : ChosenPorts(
        remote, digests: remote.digests, attachments: remote.attachments, removal: remote.removal,
        moving: remote.moving)
  }

  /// Starts an upload, unless one is running.
  package func beginUpload(_ options: UploadOptions) throws {
    guard session == nil else { return }
    let (clock, random) = (clock, SharedGenerator(seed: ids.next()))
    session = UploadSession(
      try sync(), way, named: "simulation",
      options,
      UploadEnvironment(now: { clock }, makeID: { random.uuid() }, jitter: { 0.5 }))
  }

  /// Performs one step of the upload. Returns its ending after the last step.
  ///
  /// - Throws: the error of the store. The upload has ended then, like its process.
  @discardableResult
  package func stepUpload() async throws -> UploadEnding? {
    // Something may read the records during a request.
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

  /// Runs work while one statement, counted from 1, of a role's connection fails.
  ///
  /// - Returns: whether the statement was reached and failed.
  @discardableResult
  package func failing(
    _ role: StoreRole, at place: Int, _ work: () async throws -> Void
  ) async throws -> Bool {
    let fault = try fault(role, at: place)
    defer { fault.end() }
    do {
      try await work()
    } catch  where fault.hasFailed {
      // A real process would have ended.
    }
    return fault.hasFailed
  }

  /// Makes one statement, counted from 1, of a role's connection fail until the fault ends.
  func fault(_ role: StoreRole, at place: Int) throws -> StatementFault {
    read = nil
    return StatementFault(try connections.store(role), at: place)
  }

  /// Lets the records be read again after a write through `sync()`.
  func forgetRead() { read = nil }

  /// Every record in the store, by id.
  package func records() throws -> [String: SyncRecord] {
    if let read { return read }
    let records = try sync().compare { store in
      Dictionary(uniqueKeysWithValues: try store.allRecords().map { ($0.guid, $0) })
    }
    read = records
    return records
  }
}

/// A generator for closures that can be called from anywhere. Here they are called one at a time.
private final class SharedGenerator: @unchecked Sendable {
  // Safe: only one session uses it, for one thing at a time.
  private var random: SeededGenerator
  init(seed: UInt64) { random = SeededGenerator(seed: seed) }
  func uuid() -> String { random.uuid() }
}
