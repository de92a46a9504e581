// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Nightscout

enum Sample {
  static let guid = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  static let device = Device(vendor: "Test", model: "Meter", serial: "S1", format: "test")
  static let reading = Reading(
    device: DeviceIndex(0), kind: .cbg, tick: 0, at: DeviceTime(seconds: 1_778_000_000),
    placement: Placement(utcOffset: 7200, source: .stated), .value(Quantity(100, .milligramsPerDecilitre)),
    line: 0)
  static let bolus = RecordState(
    kind: .insulin, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_000_000),
    placement: Placement(utcOffset: 7200, source: .stated),
    fields: RecordFields([
      "units": .number(4.5), "subtype": .text("rapid"), "text": .text("a & b"), "tags": .words(["x", "y"]),
    ]), isDeleted: false, editedAt: 1_778_000_100)
}

extension JSONValue {
  /// The members of an object; nil for anything else.
  var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension ReadingIdentity {
  init(_ reading: Reading, _ device: Device) {
    self.init(
      device: device, kind: reading.kind, positionKind: reading.positionKind, position: reading.position,
      valueBucket: reading.valueBucket, occurrence: Int64(reading.occurrence))
  }
}
