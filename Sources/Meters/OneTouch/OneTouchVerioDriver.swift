// SPDX-License-Identifier: Apache-2.0

import Logbook

/// LifeScan OneTouch Verio of 2015, Verio Flex, Verio Reflect, Select Plus, Select Plus Flex and Ultra Plus Flex, which
/// appear as disks.
///
/// A single source states the bit of control solution, and the range outside which a value is LO or HI. The protocol of
/// Verio Reflect and Ultra Plus Flex has one source, too. The meters number their tests with 16 bits. The shown time is
/// a reading's identity all the same, because other sources of these readings state only the time.
struct OneTouchVerioDriver: MeterDriver {
  static let id = "onetouch-verio"
  static let name = "LifeScan OneTouch Verio, Verio Flex, Select Plus"
  static let models = [
    MeterModel("OneTouch Verio (2015)", vendorID: 0x2766, productID: 0x0000, link: .disk),
    MeterModel("OneTouch Verio Flex", vendorID: 0x2766, productID: 0x0004, link: .disk),
    MeterModel("OneTouch Verio Reflect", vendorID: 0x2766, productID: 0x000C, link: .disk),
    MeterModel("OneTouch Ultra Plus Flex", vendorID: 0x2766, productID: 0x000E, link: .disk),
    MeterModel("OneTouch Select Plus", vendorID: 0x2766, productID: 0x1000, link: .disk),
    MeterModel("OneTouch Select Plus Flex", vendorID: 0x2766, productID: 0x1004, link: .disk),
  ]
  static let canSetClock = true

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try identify(meter, OneTouchDisk(meter))
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let disk = try OneTouchDisk(meter)
    let identity = try identify(meter, disk)
    try meter.onIdentity(identity)
    let count = identity.count ?? 0
    let records = try (0..<count).map { index in
      let data = try disk.request(
        [0x03, 0x31, 0x02] + UInt16(truncatingIfNeeded: index).littleEndianBytes + [0],
        doing: "reading record \(index + 1) of \(count)")
      meter.noteProgress(index + 1, of: count)
      return OneTouchRecord(disk: data)
    }
    return MeterContents(identity, newestFirst: records)
  }

  func setClock(_ meter: MeterConnection, to time: DeviceTime) throws {
    let doing = "setting the meter's clock"
    let disk = try OneTouchDisk(meter)
    let seconds = try OneTouchClock.seconds(time, since: OneTouchRecord.epoch, doing: doing)
    _ = try disk.request([0x03, 0x20, 0x01] + seconds.littleEndianBytes, doing: doing)
    let shown = try disk.request([0x03, 0x20, 0x02], doing: doing)
    try OneTouchClock.check(shown, was: seconds, doing: doing)
  }
}

extension OneTouchVerioDriver {
  private func identify(_ meter: MeterConnection, _ disk: OneTouchDisk) throws -> MeterIdentity {
    let serial = try disk.text(0x00, doing: "asking for the serial number")
    let model = try disk.text(0x01, doing: "asking for the model")
    let firmware = try disk.text(0x02, doing: "asking for the firmware's version")
    var identity = MeterIdentity(
      device: Device(
        vendor: "LifeScan", model: model.hasPrefix("OneTouch") ? model : "OneTouch " + model, serial: serial,
        format: Self.id),
      firmware: firmware)
    let clock = try disk.request([0x03, 0x20, 0x02], doing: "reading the clock")
    identity.clock = try OneTouchClock.shown(clock, since: OneTouchRecord.epoch).map(meter.compareClock)
    let doing = "asking for the number of records"
    guard let count = try disk.request([0x03, 0x27, 0x00], doing: doing).littleEndian(UInt16.self, at: 0)
    else {
      throw Failure(.protocolViolation, "\(doing): the meter's answer is too short")
    }
    identity.count = Int(count)
    return identity
  }
}
