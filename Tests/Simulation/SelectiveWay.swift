// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A way to a host that is asked for parts of its logbook, too.
struct SelectiveWay: SelectiveRemote {
  let way: FaultyRemote

  func logbook() async throws(RemoteError) -> RemoteLogbook { try await way.logbook() }

  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws(RemoteError) -> ReadingAnswer {
    try await way.push(batch, run)
  }

  func push(_ changes: [RecordChange], _ run: RunStamp) async throws(RemoteError) -> RecordAnswer {
    try await way.push(changes, run)
  }

  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(RemoteError) -> ChangePage? {
    try await way.changes(after: cursor, limit: limit, run)
  }

  func changes(
    of part: ChangePart, after cursor: String?, limit: Int, _ run: RunStamp
  ) async throws(RemoteError) -> ChangePage {
    try await way.changes(of: part, after: cursor, limit: limit, run)
  }

  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests {
    try await way.readingDigests(run)
  }
}
