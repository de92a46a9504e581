// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

@testable import Sync

/// The state of a note with these fields. Its time is fixed by default.
func note(_ fields: [String: FieldValue], at seconds: Int64 = 1000, entry: String? = nil) -> RecordState {
  RecordState(
    kind: .note, entryGuid: entry, deviceTime: DeviceTime(seconds: seconds),
    placement: Placement(utcOffset: 3600, source: .zone), fields: RecordFields(fields), isDeleted: false)
}

/// The state of a deleted note.
let tombstone = {
  var state = note([:])
  state.isDeleted = true
  return state
}()
