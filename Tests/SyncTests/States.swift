// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

@testable import Sync

/// A note with these fields, by default at a fixed time.
func note(_ fields: [String: FieldValue], at seconds: Int64 = 1000, entry: String? = nil) -> RecordState {
  RecordState(
    kind: .note, entryGuid: entry, deviceTime: DeviceTime(seconds: seconds),
    placement: Placement(utcOffset: 3600, source: .zone), fields: RecordFields(fields), isDeleted: false)
}

/// The tombstone of a note.
let tombstone = {
  var state = note([:])
  state.isDeleted = true
  return state
}()
