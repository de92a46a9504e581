// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
import LogbookAPI
package import LogbookStore
import ServerStore

/// A glucoport server with any storage.
package protocol SimulatedStorageHost: SimulatedHost {
  /// The logbook of the open storage.
  var service: any LogbookService { get }
  /// A reader of the logbook. It is a new run after the logbook was emptied, since a server keeps the digests
  /// of a run.
  var observer: RunStamp { get }
  /// Removes everything except the login. The epoch of the first position stays, since the server began with
  /// it.
  func empty() throws
}

/// The real storage of a server in its own folder. It can be restarted, copied and restored.
package final class SimulatedServer: SimulatedStorageHost, @unchecked Sendable {
  // Safe: the world does one thing at a time, and only changes the storage between requests.
  private(set) var storage: EmbeddedStorage
  /// A login that may write.
  let login: Login
  private let folder: String
  private var hasBackup = false
  package private(set) var observer = RunStamp.ofObserver()
  /// The logbook's file, while the storage is open.
  private var emptied: EmptiedFile?
  private var copy: String { folder + "-backup" }
  /// The file of the logbook.
  package var logbookFile: String { "\(folder)/logbooks/\(login.logbook).db" }

  /// One of the servers of a template, in a separate folder.
  package init(_ template: Template, number: Int = 0, folder: String) throws {
    self.folder = folder
    login = template.servers[number].login
    try template.servers[number].write(to: folder)
    storage = try EmbeddedStorage(folder: folder)
  }

  package func empty() throws {
    hasBackup = false
    observer = .ofObserver()
    let file =
      try emptied
      ?? EmptiedFile(logbookFile, keeping: ["epoch": "first_seq = 0"])
    emptied = file
    try file.empty()
  }

  /// Stops the server and starts it again.
  package func restart() async throws {
    try await close()
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Copies everything that is on disk.
  package func takeBackup() async throws {
    try await close()
    if FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: folder, toPath: copy)
    hasBackup = true
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Restores the last copy; false if there is none.
  @discardableResult
  package func restoreBackup() async throws -> Bool {
    guard hasBackup else { return false }
    try await close()
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.copyItem(atPath: copy, toPath: folder)
    storage = try EmbeddedStorage(folder: folder)
    return true
  }

  package var service: any LogbookService { storage.logbook(for: login) }

  private func close() async throws {
    emptied = nil
    try await storage.close()
  }
}

extension SimulatedStorageHost {
  /// The settings with which a node's store accesses this host.
  package var access: RemoteAccess {
    RemoteAccess(kind: "glucoport", url: "http://127.0.0.1", token: .file("/none"))
  }

  /// The logbook of the storage that is open at that time.
  package func connection() -> @Sendable () -> any LogbookService {
    { self.service }
  }

  /// The logbook, for a login.
  package func logbook() async throws -> RemoteLogbook { try await service.logbook() }

  /// Everything that the logbook holds.
  package func everything() async throws -> (readings: Int, records: [RemoteRecord]) {
    var (readings, records, cursor) = (0, [RemoteRecord](), String?.none)
    while let page = try await service.changes(after: cursor, limit: 1000, observer) {
      readings += page.readings.readings.count
      records += page.records
      cursor = page.cursor
      if !page.hasMore { break }
    }
    return (readings, records)
  }

  /// Digests over the readings that the logbook holds.
  package func digests() async throws -> IdentityDigests {
    try await service.readingDigests(observer)
  }

  /// How much of a content the server has.
  package func held(_ digest: String) async throws -> HeldContent {
    guard let attachments = service.attachments else { throw Broken("the server stores no content") }
    return try await attachments.held(digest, observer)
  }
}

extension RunStamp {
  static func ofObserver() -> RunStamp {
    RunStamp(
      node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: UUID().uuidString.lowercased())
  }
}

/// A broken rule, or a world that cannot be built.
package struct Broken: Error, CustomStringConvertible {
  /// A description of the broken rule.
  package let description: String
  init(_ description: String) { self.description = description }
}
