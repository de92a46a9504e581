// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import PostgresStore
import ServiceConformance
import TestPostgres
import Testing

/// Checks the storage in a database against `StorageRule`, and its logbooks against `ServiceRule`.
@Suite(.timeLimit(.minutes(10))) struct PostgresConformance {
  @Test(arguments: StorageRule.all) func thePostgreSQLStorageObeysEveryConformanceRule(_ rule: StorageRule)
    async throws
  {
    try await TestDatabases.shared.get().with { try await Self.bench($0).check(rule) }
  }

  @Test(arguments: ServiceRule.ofStorages) func aLogbookInPostgreSQLObeysEveryConformanceRule(
    _ rule: ServiceRule
  )
    async throws
  {
    try await TestDatabases.shared.get().with { try await PostgresLogbooks(copies: $0).check(rule) }
  }

  /// The folder of a storage contains only a file with the name of its database. Each start copies the
  /// database that the file names, and writes the name of the copy into the file. So an earlier copy of the
  /// folder still names the earlier database, like a backup.
  static func bench(_ copies: DatabaseCopies) -> StorageBench {
    StorageBench { folder, maxContentBytes in
      var quota = LogbookQuota()
      quota.contentBytes = maxContentBytes
      let marker = folder + "/database"
      let before = try? String(contentsOfFile: marker, encoding: .utf8)
      let name = try copies.copy(of: before)
      try name.write(toFile: marker, atomically: true, encoding: .utf8)
      // Eight writers and a reader of one logbook wait for each other. The time limits are long, so that the
      // tests also pass on a busy machine.
      var limits = PoolLimits()
      limits.acquireTime = .seconds(120)
      limits.requestTime = .seconds(120)
      limits.lockMilliseconds = 120_000
      let storage = try PostgresStorage(
        DatabaseAddress(copies.server.address(name)), quota: quota, limits: limits)
      return OpenStorage(storage) {
        try await storage.close()
        // The connections end a moment later, and a database with connections cannot be copied.
        for _ in 0..<200 {
          let count = try copies.server.number(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '\(name)'")
          if count == 0 { return }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
    }
  }
}

private struct PostgresLogbooks: ServiceBench {
  let copies: DatabaseCopies

  func with(
    _ body: @Sendable (any LogbookService, any LogbookService) async throws -> Void
  ) async throws {
    let bench = PostgresConformance.bench(copies)
    let stand = try await StoragePlace(bench: bench, folder: ScratchFolder()).start()
    try await body(stand.logbook(stand.writer), stand.logbook(stand.reader))
    try await stand.stop()
  }
}
