// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Dexcom receivers G4, G5 and G6.
///
/// The parts about the G4 are known from a recording of the manufacturer's program and its export. G5 and G6 add revisions
/// 4 and 5 of sensor values, revision 3 of calibrations, and the partition of values that were fetched later. Each of
/// these has one source, and no recording of them is public.
///
/// A sensor value is identified by the second of its measurement on the system's clock. That clock cannot be set, while
/// the display's clock can. The manufacturer's export names the transmitter as the device and counts the transmitter's
/// ticks. The receiver of the G4 stores neither, so the same value from both sources has two identities. Calibrations
/// are identified by their shown time in both.
struct DexcomG4Driver: MeterDriver {
  static let id = "dexcom-g4"
  static let name = "Dexcom G4, G5 and G6 receivers"
  static let models = [
    MeterModel(
      "Dexcom G4, G5 or G6 receiver", vendorID: 0x22A3, productID: 0x0047,
      link: .cdc(LineSettings(baud: 115_200))
    ),
    MeterModel(
      "Dexcom G7 receiver", vendorID: 0x22A3, productID: 0x0048, link: .cdc(LineSettings(baud: 115_200)),
      obstacle: "its protocol is not published"),
  ]
  static let canSetClock = true

  private static let products = [
    "G4Receiver": "G4 Receiver", "ScoutReceiver": "G5 Receiver", "OrionReceiver": "G6 Receiver",
  ]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, DexcomSession(meter)).identity
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = DexcomSession(meter)
    let (identity, hasBackfill) = try identify(meter, session)
    try meter.onIdentity(identity)
    let partitions: [DexcomPartition] = [.sensor] + (hasBackfill ? [.backfill] : []) + [.calibration, .event]
    let ranges = try partitions.map { ($0, try session.range($0)) }
    let total = ranges.reduce(0) { $0 + ($1.1?.count ?? 0) }
    var memory = DexcomMemory()
    var done = 0
    for case (let partition, let range?) in ranges {
      let pages = try session.pages(range, partition) {
        done += 1
        meter.noteProgress(done, of: total)
      }
      for page in pages { memory.add(page, partition) }
    }
    return memory.contents(identity)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the receiver's clock"
    let session = DexcomSession(meter)
    let system = try session.number(.systemTime, UInt32.self, doing: doing)
    guard let offset = Int32(exactly: time.seconds - DexcomRecord.epoch - Int64(system)) else {
      throw Failure(.usage, "\(doing): the receiver cannot show this time")
    }
    _ = try session.request(.setDisplayOffset, offset.littleEndianBytes, doing: doing)
    guard try session.number(.displayOffset, Int32.self, doing: doing) == offset else {
      throw Failure(.protocolViolation, "\(doing): the receiver shows another time than the one that was set")
    }
  }
}

extension DexcomG4Driver {
  private func identify(
    _ meter: MeterConnection, _ session: DexcomSession
  ) throws -> (identity: MeterIdentity, hasBackfill: Bool) {
    let doing = "asking which receiver it is"
    _ = try session.request(.ping, doing: doing)
    let firmware = DexcomText(try session.request(.firmwareHeader, doing: doing))
    let product = firmware["ProductId"] ?? ""
    let device = Device(
      vendor: "Dexcom", model: Self.products[product] ?? firmware["ProductName"] ?? "Receiver",
      serial: try serialNumber(session, doing: doing), format: Self.id)
    var identity = MeterIdentity(device: device, firmware: firmware["FirmwareVersion"] ?? "")
    let offset = try session.number(.displayOffset, Int32.self, doing: "reading the clock")
    let system = try session.number(.systemTime, UInt32.self, doing: "reading the clock")
    identity.clock = meter.compareClock(
      DeviceTime(seconds: Int64(system) + Int64(offset) + DexcomRecord.epoch))
    return (identity, product == "ScoutReceiver" || product == "OrionReceiver")
  }

  /// The serial number on the last page of the manufacturer's text. A repaired receiver has several.
  private func serialNumber(_ session: DexcomSession, doing: String) throws -> String {
    guard let last = try session.range(.manufacturing)?.upperBound,
      let page = try session.pages(last...last, .manufacturing, onPage: {}).first,
      let record = page?.records(length: 500).first, let record,
      let serial = DexcomText(record.dropFirst(8))["SerialNumber"]
    else { throw Failure(.protocolViolation, "\(doing): the receiver reports no serial number") }
    return serial
  }
}
