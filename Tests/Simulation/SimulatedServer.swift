// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
import LogbookAPI
package import LogbookStore
import ServerStore

/// A simulated glucoport server, whatever storage it uses.
package protocol SimulatedStorageHost: SimulatedHost {
  /// The logbook in the storage that is open.
  var service: any LogbookService { get }
  /// The `RunStamp` that checks send with their requests. After the logbook was emptied it must be another
  /// one. A server keeps the digests that it computed for a stamp, and would answer with the old ones.
  var observer: RunStamp { get }
  /// Deletes everything except the login and the epoch with which the server began.
  func empty() throws
}

/// A server with the real storage in a separate folder. It can be restarted, backed up and restored.
package final class SimulatedServer: SimulatedStorageHost, @unchecked Sendable {
  // Safe: a world does one thing at a time, and changes the storage only between requests.
  private(set) var storage: EmbeddedStorage
  /// A login with the right to write.
  let login: Login
  private let folder: String
  private var hasBackup = false
  package private(set) var observer = RunStamp.ofObserver()
  /// Empties the file of the logbook; nil after the storage was closed.
  private var emptied: EmptiedFile?
  private var copy: String { folder + "-backup" }
  /// The path of the logbook's file.
  package var logbookFile: String { "\(folder)/logbooks/\(login.logbook).db" }

  /// Makes a server with the files of a template's server in a separate folder.
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

  /// Copies the folder of the server, as a backup.
  package func takeBackup() async throws {
    try await close()
    if FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
    try FileManager.default.copyItem(atPath: folder, toPath: copy)
    hasBackup = true
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Replaces the server's folder by the last backup. Returns false if there is no backup.
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
  /// The settings that connect the store of a node to this host.
  package var access: RemoteAccess {
    RemoteAccess(kind: "glucoport", url: "http://127.0.0.1", token: .file("/none"))
  }

  /// A closure that returns the logbook of the storage that is open when it is called.
  package func connection() -> @Sendable () -> any LogbookService {
    { self.service }
  }

  /// The logbook, as a login sees it.
  package func logbook() async throws -> RemoteLogbook { try await service.logbook() }

  /// The number of readings and all records in the logbook.
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

  /// The digests of the readings in the logbook.
  package func digests() async throws -> IdentityDigests {
    try await service.readingDigests(observer)
  }

  /// How much of an attachment content the server has.
  package func held(_ digest: String) async throws -> HeldContent {
    guard let attachments = service.attachments else { throw Broken("the server stores no content") }
    return try await attachments.heldContent(of: digest, observer)
  }
}

extension RunStamp {
  static func ofObserver() -> RunStamp {
    RunStamp(
      node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: UUID().uuidString.lowercased())
  }
}

/// The error that a rule is broken, or that a world cannot be made.
package struct Broken: Error, CustomStringConvertible {
  /// A text that describes the broken rule.
  package let description: String
  init(_ description: String) { self.description = description }
}
