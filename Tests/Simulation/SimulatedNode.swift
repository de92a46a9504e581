// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Sync

/// One installation: a store in a file, and at most one upload at a time.
final class SimulatedNode {
  let name: String
  let path: String
  let remote: FaultyRemote
  private(set) var sync: Store
  private(set) var editor: RecordEditor
  private(set) var resolver: RecordResolver
  private(set) var importer: Store
  private(set) var session: UploadSession?
  private var ids: SeededGenerator
  var clock: Int64 = 1_800_000_000

  init(name: String, path: String, _ remote: FaultyRemote, seed: UInt64) throws {
    self.name = name
    self.path = path
    self.remote = remote
    ids = SeededGenerator(seed: seed)
    let zone = try LogbookZone(name: "Europe/Madrid")
    importer = try Store.openOrCreate(path: path, role: .importer, zone: zone)
    sync = try Store(path: path, role: .sync)
    editor = RecordEditor(try Store(path: path, role: .editor), at: clock)
    resolver = RecordResolver(try Store(path: path, role: .resolver))
  }

  /// Opens the file anew, as after a crash: what was not committed is gone.
  func reopen() throws {
    session = nil
    importer = try Store(path: path, role: .importer)
    sync = try Store(path: path, role: .sync)
    editor = RecordEditor(try Store(path: path, role: .editor), at: clock)
    resolver = RecordResolver(try Store(path: path, role: .resolver))
  }

  func makeID() -> String { ids.uuid() }

  /// Begins an upload, unless one runs.
  func beginUpload() {
    guard session == nil else { return }
    let (clock, seed) = (clock, ids.next())
    let random = SharedGenerator(seed: seed)
    var options = UploadOptions()
    (options.mostReadings, options.mostRecords, options.mostChanges) = (4, 3, 5)
    session = UploadSession(
      sync, remote, named: "simulation", options,
      UploadEnvironment(now: { clock }, makeID: { random.uuid() }, jitter: { 0.5 }))
  }

  /// Does one step of the upload; gives its ending behind the last.
  func stepUpload() async throws -> UploadEnding? {
    let ending = try await session?.step()
    if ending != nil { session = nil }
    return ending
  }

  /// Every record as the store has it, by id.
  func records() throws -> [String: SyncRecord] {
    try sync.sync { store in
      Dictionary(uniqueKeysWithValues: try store.allRecords().map { ($0.guid, $0) })
    }
  }
}

/// A generator for closures that may be called from anywhere; here they are called one at a time.
private final class SharedGenerator: @unchecked Sendable {
  // Safe: one session uses it, and does one thing at a time.
  private var random: SeededGenerator
  init(seed: UInt64) { random = SeededGenerator(seed: seed) }
  func uuid() -> String { random.uuid() }
}
