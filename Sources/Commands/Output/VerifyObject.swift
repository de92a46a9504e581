// SPDX-License-Identifier: Apache-2.0

import Logbook
import Sync

/// The results of a comparison, as `verify --json` prints them; glucoport-json(5) documents the members.
struct VerifyObject: Encodable {
  let outcome: String
  let missingThereReadings: Int
  let missingThereRecords: Int
  let missingHereReadings: Int
  let missingHereRecords: Int
  let differentRecords: Int
  let alteredRecords: Int
  let notPulled: Int
  let requeuedReadings: Int
  let requeuedRecords: Int
  let fetchedReadings: Int
  let fetchedRecords: Int
  let unfixed: Int
  let differences: [DifferenceObject]

  init(_ summary: VerifySummary, isFixed: Bool) {
    outcome = summary.differences == 0 ? "equal" : isFixed && summary.unfixed == 0 ? "fixed" : "different"
    missingThereReadings = summary.readings[.missingThere] ?? 0
    missingThereRecords = summary.records[.missingThere] ?? 0
    missingHereReadings = summary.readings[.missingHere] ?? 0
    missingHereRecords = summary.records[.missingHere] ?? 0
    differentRecords = summary.records[.different] ?? 0
    alteredRecords = summary.records[.altered] ?? 0
    notPulled = summary.notPulled
    requeuedReadings = summary.requeuedReadings
    requeuedRecords = summary.requeuedRecords
    fetchedReadings = summary.fetchedReadings
    fetchedRecords = summary.fetchedRecords
    unfixed = summary.unfixed
    differences = summary.listed.map(DifferenceObject.init)
  }
}

/// One difference: a reading by its device, or a record by its guid.
struct DifferenceObject: Encodable {
  private struct ReadingMembers: Encodable {
    let difference: String
    let item = "reading"
    let kind: String
    let vendor: String
    let model: String
    let deviceTime: String
  }

  private struct RecordMembers: Encodable {
    let difference: String
    let item = "record"
    let kind: String
    let guid: String
    let deviceTime: String
  }

  private let found: FoundDifference

  init(_ found: FoundDifference) { self.found = found }

  func encode(to encoder: any Encoder) throws {
    let difference = found.kind.rawValue
    switch found.item {
    case .reading(let kind, let device, let time):
      try ReadingMembers(
        difference: difference, kind: kind.name, vendor: device.vendor, model: device.model,
        deviceTime: time.text
      ).encode(to: encoder)
    case .record(let kind, let guid, let time):
      try RecordMembers(difference: difference, kind: kind.rawValue, guid: guid, deviceTime: time.text)
        .encode(to: encoder)
    }
  }
}
