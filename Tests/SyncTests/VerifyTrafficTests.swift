// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookAPI
import LogbookStore
import Simulation
import Synchronization
import Testing

@testable import Sync

/// Tests how many bytes a comparison with the server transfers.
@Suite(.timeLimit(.minutes(30))) struct VerifyTrafficTests {
  /// The number of readings. The environment variable `GLUCOPORT_VERIFY_READINGS` sets another number for a
  /// measurement.
  private static let readings =
    ProcessInfo.processInfo.environment["GLUCOPORT_VERIFY_READINGS"].flatMap { Int64($0) } ?? 50_000

  @Test func verifyOfManyReadingsWithThreeDifferencesTransfersFewBytes() async throws {
    let scene = try await Scene()
    await scene.a.remote.setPage(10_000)
    for start in stride(from: 0, to: Self.readings, by: 100_000) {
      try scene.a.importReadings(start..<min(start + 100_000, Self.readings))
    }
    for number in 0..<20 { _ = try scene.a.add(["a": "note \(number)"]) }
    try await scene.upload(scene.a)
    let last = try await scene.server.everything().readings
    #expect(last == Int(Self.readings))
    try DamagedFile.execute(
      "DELETE FROM reading WHERE seq IN (1, 777, \(last))", in: scene.server.logbookFile)

    let counting = CountingRemote(remote: scene.a.remote)
    let session = try #require(VerifySession(try scene.a.sync(), counting, named: "remote"))
    try await session.compare()
    #expect(session.summary.readings == [.missingOnRemote: 3] && session.summary.differences == 3)
    let bytes = counting.bytes.withLock { $0 }
    print("\(bytes) bytes for 3 differences among \(Self.readings) readings")
    #expect(bytes < 100 << 10)
  }
}

/// Counts the bytes of requests and answers. The sizes of their heads are estimated, and large bodies are
/// compressed.
private final class CountingRemote: LogbookService, DigestService {
  var digests: (any DigestService)? { self }
  let remote: FaultyRemote
  let bytes = Mutex(0)

  init(remote: FaultyRemote) { self.remote = remote }

  /// The estimated size in bytes of a request's head, with token and run number, and of its answer's head.
  private static let headBytes = 700

  private func count(_ body: [UInt8], path: String = "") {
    let packed = body.count > 1024 ? WireGzip.pack(body)?.count : nil
    bytes.withLock { $0 += Self.headBytes + path.utf8.count + (packed ?? body.count) }
  }

  func logbook() async throws(ServiceError) -> RemoteLogbook { try await remote.logbook() }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    try await remote.store(batch, run)
  }

  func apply(_ changes: [RecordChange], _ run: RunStamp) async throws(ServiceError) -> RecordAnswer {
    try await remote.apply(changes, run)
  }

  func changes(
    after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(ServiceError) -> ChangePage? {
    let page = try await remote.changes(after: cursor, limit: limit, run)
    count(page.map(WireCodec.write) ?? [])
    return page
  }

  func readingDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    let digests = try await remote.readingDigests(run)
    count(WireCodec.write(digests))
    return digests
  }

  func recordDigests(_ run: RunStamp) async throws(ServiceError) -> IdentityDigests {
    let digests = try await remote.recordDigests(run)
    count(WireCodec.write(digests), path: WireCodec.queryForRecordDigests)
    return digests
  }

  func readings(in buckets: [Int], _ run: RunStamp) async throws(ServiceError) -> ReadingBatch {
    let batch = try await remote.readings(in: buckets, run)
    count(WireCodec.writeReadings(batch), path: WireCodec.queryForReadings(in: buckets))
    return batch
  }

  func records(
    in buckets: [Int], after guid: String?, _ run: RunStamp
  ) async throws(ServiceError) -> RecordPage {
    let page = try await remote.records(in: buckets, after: guid, run)
    count(WireCodec.write(page), path: WireCodec.queryForRecords(in: buckets, after: guid))
    return page
  }
}
