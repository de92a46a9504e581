// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import ServerStore
import ServiceConformance
import Testing

/// Checks the embedded storage against `StorageRule`, and its logbooks against `ServiceRule`.
@Suite(.timeLimit(.minutes(10))) struct EmbeddedConformance {
  static let bench = StorageBench { folder, maxContentBytes in
    var quota = LogbookQuota()
    quota.contentBytes = maxContentBytes
    let storage = try EmbeddedStorage(folder: folder, quota: quota)
    return OpenStorage(storage, stop: storage.close)
  }

  @Test(arguments: StorageRule.all) func theSQLiteStorageObeysEveryConformanceRule(_ rule: StorageRule)
    async throws
  {
    try await Self.bench.check(rule)
  }

  @Test(arguments: ServiceRule.ofStorages) func aLogbookInSQLiteStorageObeysEveryConformanceRule(
    _ rule: ServiceRule
  )
    async throws
  {
    try await EmbeddedLogbooks().check(rule)
  }
}

private struct EmbeddedLogbooks: ServiceBench {
  func with(
    _ body: @Sendable (any LogbookService, any LogbookService) async throws -> Void
  ) async throws {
    let stand = try await StoragePlace(bench: EmbeddedConformance.bench, folder: ScratchFolder()).start()
    try await body(stand.logbook(stand.writer), stand.logbook(stand.reader))
    try await stand.stop()
  }
}
