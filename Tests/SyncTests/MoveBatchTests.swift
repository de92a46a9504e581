// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Testing

@testable import Sync

/// Tests what a move does with each reading, depending on the instants at which the remote has it.
@Suite struct MoveBatchTests {
  private static func reading(_ place: Int64) -> Reading {
    Reading(
      device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: place),
      placement: Placement(utcOffset: 3600, source: .zone), .value(Quantity(100, .milligramsPerDecilitre)),
      line: 1)
  }

  @Test func aMoveOnASiteRemovesOnlyMisplacedReadingsAndSendsNoneTwice() {
    let readings = (0..<5).map { Self.reading(10_000 + Int64($0)) }
    let step = MoveBatch.step(
      readings: readings, mustSend: { $0 == 4 },
      instants: [[6400], [10_001], [6402, 10_002], [], []])
    #expect(step == MoveBatch.MoveStep(done: [0, 3], present: [0], toRemove: [1, 2], toSend: [1, 4]))
    #expect(step.toChange == [1, 2, 4])
    let changed = step.changing([1])
    #expect(changed.toRemove == [1] && changed.toSend == [1] && changed.done == step.done)
  }
}
