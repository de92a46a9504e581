// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Trividia TRUE METRIX, TRUE METRIX GO and AIR, in their docks: text in HID reports.
///
/// The session follows a capture of the vendor's program and Tidepool's program. Only Tidepool states how the
/// meter reports its clock, so a meter that does not answer this request is read, too. Only the capture shows
/// how to set the clock.
struct TrueMetrixDriver: MeterDriver {
  static let id = "true-metrix"
  static let name = "Trividia TRUE METRIX, GO, AIR"
  static let canSetClock = true
  static let models = [
    MeterModel("TRUE METRIX", vendorID: 0x1F41, productID: 0x0000, link: .hid),
    MeterModel("TRUE METRIX", vendorID: 0x1F41, productID: 0x0003, link: .hid),
  ]

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    return try identify(dock, meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    var identity = try identify(dock, meter)
    try meter.onIdentity(identity)
    let records = try dock.download()
    identity.count = records.count
    var contents = MeterContents(identity)
    var unknownTags: [String: Int] = [:]
    for (index, text) in records.enumerated() {
      switch TrueMetrixRecord.parse(text) {
      case .success(let record):
        contents.add(record)
        if let tag = record.unknownTag { unknownTags[tag, default: 0] += 1 }
      case .failure(let rejection):
        contents.rejections.append(
          Rejection(line: Int64(index + 1), reason: rejection.reason, source: text))
      }
    }
    for (tag, count) in unknownTags.sorted(by: { $0.key < $1.key }) {
      contents.warnings.append(
        counted(count, "reading has", "readings have") + " the tag \(tag), whose meaning is unknown; "
          + "it may mean a test of control solution; each of them has a note with the tag")
    }
    if identity.clock == nil { contents.warnings.append("the meter does not report its time") }
    contents.readings.markClockSetBackInEitherOrder()
    return contents
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let dock = TrueMetrixDock(meter)
    defer { dock.sleep() }
    try dock.wake()
    let p = time.parts
    let digits = [p.second, p.minute, p.hour, p.day, p.month, p.year % 100, p.year / 100]
      .map { ($0 < 10 ? "0" : "") + String($0) }.joined()
    _ = try dock.request("P41", answer: "p*", doing: doing)
    _ = try dock.request("Q" + digits, answer: "q*", doing: doing)
  }
}

extension TrueMetrixDriver {
  private func identify(_ dock: TrueMetrixDock, _ meter: MeterConnection) throws -> MeterIdentity {
    let doing = "asking the meter for its identity"
    try dock.wake()
    let model = try dock.request("I", answer: "i", doing: doing)
    let serial = try dock.request("Z1", answer: "z1", doing: doing)
    let version = try dock.request("V", answer: "v", doing: doing)
    let clock = try dock.requestIfKnown("T", answer: "t", doing: "asking the meter for its clock")
    return MeterIdentity(
      device: Device(vendor: "Trividia", model: Self.product(model), serial: serial, format: Self.id),
      firmware: version, clock: clock.flatMap(Self.time).map(meter.compareClock))
  }

  private static func product(_ code: String) -> String {
    switch code {
    case "MR2": "TRUE METRIX"
    case "RC2": "TRUE METRIX GO"
    case "BLU": "TRUE METRIX AIR"
    default: "TRUE METRIX \(code)"
    }
  }

  /// The time that twelve digits state: second, minute, hour, day, month and year, with two digits each.
  private static func time(_ digits: String) -> DeviceTime? {
    let values = digits.utf8.map { Int($0) - 0x30 }
    guard values.count == 12, values.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let pairs = stride(from: 0, to: 12, by: 2).map { values[$0] * 10 + values[$0 + 1] }
    return DeviceTime(
      year: 2000 + pairs[5], month: pairs[4], day: pairs[3], hour: pairs[2], minute: pairs[1],
      second: pairs[0])
  }
}

extension MeterContents {
  fileprivate mutating func add(_ record: TrueMetrixRecord) {
    readings.append(record.reading)
    guard !record.remark.isEmpty else { return }
    records.append(
      MeterRecord(.note, at: record.reading.deviceTime, RecordFields(["tags": .words([record.remark])])))
  }
}
