// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension FaultyRemote: DigestService {
  /// The digests of the records that the server has.
  package func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    try await exchange("record-digests", items: 0, at: \.digests) { (host) async throws(ServiceError) in
      try await host.recordDigests(run)
    }
  }

  /// The readings that the server has in these buckets of `IdentityDigests`.
  package func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    try await exchange("bucket-readings", items: buckets.count, at: \.digests) {
      (host) async throws(ServiceError) in
      try await host.readings(in: buckets, run)
    }
  }

  /// The records that the server has in these buckets of `IdentityDigests`.
  package func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    // This request cannot be made smaller. So it counts as one item, and the simulation never refuses it as
    // too large.
    try await exchange("bucket-records", items: 1, at: \.digests) { (host) async throws(ServiceError) in
      try await host.records(in: buckets, after: guid, run)
    }
  }
}
