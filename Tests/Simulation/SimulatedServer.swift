// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Logbook
import LogbookAPI
package import LogbookStore
import ServerStore

/// A server's real storage in its own folder, which can be restarted, copied and put back.
package final class SimulatedServer: SimulatedHost, @unchecked Sendable {
  // Safe: the world does one thing at a time, and changes the storage only between requests.
  private(set) var storage: EmbeddedStorage
  /// A login that may write.
  let login: Login
  private let folder: String
  private var hasBackup = false
  /// Who looks at the logbook from outside: another run after it was emptied, since a server keeps what a run compared.
  private(set) var observer = SimulatedServer.observer()
  /// The logbook's file, while the storage has been open for as long.
  private var emptied: EmptiedFile?
  private var copy: String { folder + "-backup" }
  /// The file of the logbook.
  package var logbookFile: String { "\(folder)/logbooks/\(login.logbook).db" }

  /// One of the servers of a template, in a folder that is its own.
  package init(_ template: Template, number: Int = 0, folder: String) throws {
    self.folder = folder
    login = template.servers[number].login
    try template.servers[number].write(to: folder)
    storage = try EmbeddedStorage(folder: folder)
  }

  /// Takes out everything but the login. The epoch of the first position stays: the server began with it.
  func empty() throws {
    hasBackup = false
    observer = Self.observer()
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

  /// Puts the last copy back; false when there is none.
  @discardableResult
  package func restoreBackup() async throws -> Bool {
    guard hasBackup else { return false }
    try await close()
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.copyItem(atPath: copy, toPath: folder)
    storage = try EmbeddedStorage(folder: folder)
    return true
  }

  /// The logbook as the open storage offers it.
  var service: any LogbookService { storage.logbook(for: login) }

  private func close() async throws {
    emptied = nil
    try await storage.close()
  }

  /// How a node's store keeps it.
  package var access: RemoteAccess {
    RemoteAccess(kind: "glucoport", url: "http://127.0.0.1", token: .file("/none"))
  }

  /// The logbook as the storage offers it that is open at the time.
  package func connection() -> @Sendable () -> any LogbookService {
    { self.service }
  }

  /// What the logbook is, as a login sees it.
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

  private static func observer() -> RunStamp {
    RunStamp(
      node: "ffffffff-ffff-ffff-ffff-ffffffffffff", number: 1, id: UUID().uuidString.lowercased())
  }
}

/// A rule that does not hold, or a world that cannot be built.
package struct Broken: Error, CustomStringConvertible {
  /// What is broken.
  package let description: String
  init(_ description: String) { self.description = description }
}
