// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension FaultyRemote {
  private func comparable() throws(RemoteError) -> any VerifyingRemote {
    guard let host = host as? any VerifyingRemote else { throw .refused("this host cannot be compared") }
    return host
  }

  /// Digests over the records that the server has.
  public func recordDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    let host = try comparable()
    return try await exchange("record-digests", items: 0) { () async throws(RemoteError) in
      try await host.recordDigests(run)
    }
  }

  /// The readings that the server has in these buckets.
  public func readings(in buckets: [Int], _ run: RunStamp) async throws(RemoteError) -> ReadingBatch {
    let host = try comparable()
    return try await exchange("bucket-readings", items: buckets.count) { () async throws(RemoteError) in
      try await host.readings(in: buckets, run)
    }
  }

  /// The records that the server has in these buckets.
  public func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(RemoteError) -> RecordPage {
    let host = try comparable()
    // Another one would not help, so that the network never calls it too large.
    return try await exchange("bucket-records", items: 1) { () async throws(RemoteError) in
      try await host.records(in: buckets, after: guid, run)
    }
  }
}
