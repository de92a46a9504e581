// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Removing withdrawn readings: whoever else reads the site knows nothing of withdrawals.
extension NightscoutRemote: RemovalService {
  var removal: (any RemovalService)? { self }

  /// Without tombstones, which would keep the readings away when they count again. Entries of other programs are theirs.
  func remove(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> Bool {
    for reading in batch.readings {
      let identity = ReadingIdentity(reading, batch.devices[Int(reading.device.number)])
      let answer = try await session.send(
        .DELETE, Self.path(.entries, "/\(identity.uuid)?permanent=true"))
      switch NightscoutAnswer.status(answer) {
      case 200, 404, 410: break
      case 403: return false
      default: throw await session.problem(answer, isWrite: true)
      }
    }
    return true
  }
}
