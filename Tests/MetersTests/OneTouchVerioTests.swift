// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests a OneTouch meter that appears as a disk.
struct OneTouchVerioTests {
  private static let model = OneTouchVerioDriver.models[1]
  private static let host: Int64 = 1_727_089_139

  /// The SCSI command READ(10) of one sector, as the manufacturer's program sends it.
  private static func reading(_ sector: UInt8) -> LinkOperation {
    .command([0x28, 0, 0, 0, 0, sector, 0, 0, 1, 0], reads: 512)
  }

  private static func sector(_ frame: [UInt8]) -> [UInt8] {
    frame + [UInt8](repeating: 0, count: 512 - frame.count)
  }

  private static func writing(_ sector: UInt8, _ frame: [UInt8]) -> LinkOperation {
    .commandWriting([0x2A, 0, 0, 0, 0, sector, 0, 0, 1, 0], Self.sector(frame))
  }

  private static let inquiry = LinkOperation.command([0x12, 0, 0, 0, 36, 0], reads: 36)
  private static let inquired =
    [UInt8](printed: "00 80 00 00 1f 00 00 00") + Array("LifeScan".utf8) + [UInt8](printed: "00*20")
  private static let label =
    [UInt8](printed: "00*43") + Array("LIFESCAN   FAT16".utf8) + [UInt8](printed: "00*453")

  private static func begun() -> WrittenSession {
    var session = WrittenSession()
    session.add(inquiry, .success(inquired))
    return session
  }

  /// An answer to INQUIRY with this product and firmware version.
  private static func inquired(product: String, version: String = "") -> [UInt8] {
    let text = { (text: String, width: Int, blank: UInt8) in
      Array(text.utf8) + [UInt8](repeating: blank, count: width - text.utf8.count)
    }
    let blank: UInt8 = product.isEmpty ? 0 : 0x20
    return Array(inquired.prefix(16)) + text(product, 16, blank) + text(version, 4, blank)
  }

  private static let serialRequest = [UInt8](printed: "02 0a 00 03 e6 02 00 03 74 5e")
  private static let serialAnswer = [UInt8](
    printed: "02 1a 00 04 06 5a 00 41 00 48 00 4c 00 47 00 48 00 36 00 43 00 00 00 03 7c 69")
  private static let record = [UInt8](
    printed: "02 18 00 04 06 0e 00 00 16 00 29 e3 a7 28 32 00 00 00 93 0b 00 03 61 17")

  /// The requests that identify a meter and count its records, and the answers. Only the software version and
  /// the count of 2 are constructed.
  private static let identifying: [(request: [UInt8], answer: [UInt8])] = [
    (serialRequest, serialAnswer),
    (
      [UInt8](printed: "02 0a 00 03 e6 02 01 03 45 6d"),
      [UInt8](
        printed: "02 1e 00 04 06 56 00 65 00 72 00 69 00 6f 00 20 00 46 00 6c 00 65 00 78 00 00 00 03 e2 ee")
    ),
    ([UInt8](printed: "02 0a 00 03 e6 02 02 03 16 38"), SheetFrame.frame("03 06 31 00 2e 00 39 00 00 00")),
    (
      [UInt8](printed: "02 09 00 03 20 02 03 d4 92"), [UInt8](printed: "02 0c 00 04 06 73 06 84 2e 03 59 e0")
    ),
    ([UInt8](printed: "02 09 00 03 27 00 03 26 71"), SheetFrame.frame("03 06 02 00")),
  ]

  private static func identified() -> WrittenSession {
    var session = begun()
    for (request, answer) in identifying { session.exchange(request, answer) }
    return session
  }

  private static func connection(_ transport: ReplayedTransport) -> MeterConnection {
    MeterConnection(transport, model: model, now: { host })
  }

  @Test func theWholeMemoryOfAOneTouchVerioIsReadWithItsModelAndSerialNumber() throws {
    var session = Self.identified()
    session.exchange([UInt8](printed: "02 0c 00 03 31 02 00 00 00 03 ed 4c"), Self.record)
    session.exchange(
      [UInt8](printed: "02 0c 00 03 31 02 01 00 00 03 59 3a"),
      [UInt8](printed: "02 18 00 03 06 00 00 00 17 00 a5 39 26 2d 70 00 01 00 00 0b 00 03 c9 08"))
    let transport = session.replayed
    let contents = try OneTouchVerioDriver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(
      contents.identity.device
        == Device(
          vendor: "LifeScan", model: "OneTouch Verio Flex", serial: "ZAHLGH6C", format: "onetouch-verio"))
    #expect(contents.identity.firmware == "1.9")
    #expect(contents.identity.count == 2)
    #expect(contents.identity.clock?.meter.text == "2024-09-23T10:58:59")
    #expect(contents.identity.clock?.host == Self.host)
    // The older record shows a later time: the clock was set back between them.
    #expect(contents.readings.map(\.deviceTime.text) == ["2024-01-02T03:04:05", "2021-08-12T13:48:25"])
    #expect(contents.readings.map(\.marks) == [.beforeMeal, .clockSetBack])
    #expect(contents.readings.allSatisfy { $0.tick == nil })
    #expect(contents.rejections.isEmpty)
  }

  @Test func anEmptyOneTouchVerioIsReadAsNoReadings() throws {
    var session = Self.begun()
    for (request, answer) in Self.identifying.dropLast() { session.exchange(request, answer) }
    session.exchange([UInt8](printed: "02 09 00 03 27 00 03 26 71"), SheetFrame.frame("03 06 00 00"))
    let contents = try OneTouchVerioDriver().read(Self.connection(session.replayed))
    #expect(contents.readings.isEmpty)
    #expect(contents.identity.count == 0)
  }

  @Test func anInvalidOneTouchVerioRecordIsRejectedWithItsNumber() throws {
    var session = Self.identified()
    session.exchange([UInt8](printed: "02 0c 00 03 31 02 00 00 00 03 ed 4c"), Self.record)
    session.exchange([UInt8](printed: "02 0c 00 03 31 02 01 00 00 03 59 3a"), SheetFrame.frame("03 06 01 02"))
    let contents = try OneTouchVerioDriver().read(Self.connection(session.replayed))
    #expect(contents.readings.count == 1)
    #expect(contents.rejections.map(\.line) == [2])
  }

  /// Answers of meters to INQUIRY, and the first sector of the disk; nil if the driver does not read that
  /// sector.
  @Test(
    arguments: [
      (inquired, nil), (inquired(product: "OneTouch Verio"), nil),
      (inquired(product: "Select Plus Flex"), nil),
      (inquired(product: "ULTRA PLUS FLEX", version: "1.00"), nil),
      (inquired(product: "                "), nil), (Array(inquired.prefix(32)), nil),
      (inquired(product: "MSC Device"), label),
    ] as [([UInt8], [UInt8]?)])
  func aOneTouchVerioIsRecognisedByVendorAndProduct(inquired: [UInt8], label: [UInt8]?) throws {
    var session = WrittenSession()
    session.add(Self.inquiry, .success(inquired))
    if let label { session.add(Self.reading(0), .success(label)) }
    for (request, answer) in Self.identifying { session.exchange(request, answer) }
    let transport = session.replayed
    #expect(try OneTouchVerioDriver().identify(Self.connection(transport)).device.serial == "ZAHLGH6C")
    #expect(transport.isExhausted)
  }

  /// Answers of other disks to INQUIRY, and the first sector; nil if the driver does not read that sector.
  private static let otherDisks: [(inquired: [UInt8], label: [UInt8]?)] = {
    let other = inquired(product: "")
    let vendor = { (name: String) in other[..<8] + Array(name.utf8) + other[16...] }
    let blank = [UInt8](repeating: 0, count: 512)
    return [
      (inquired(product: "Flash Disk"), blank), (inquired(product: "Flash Disk"), []),
      (Array(vendor("Kingston")), nil), (Array(vendor("LIFESCAN")), nil), (Array(vendor("        ")), nil),
      ([UInt8](repeating: 0, count: 16), nil), (Array(inquired.prefix(24)), nil), ([], nil),
    ]
  }()

  /// The replayed session has no write, so a write by the driver would fail with another error.
  @Test(arguments: otherDisks.indices)
  func aDiskThatIsNotAOneTouchIsRefusedBeforeAnythingIsWritten(index: Int) throws {
    let (inquired, label) = Self.otherDisks[index]
    var session = WrittenSession()
    session.add(Self.inquiry, .success(inquired))
    if let label { session.add(Self.reading(0), .success(label)) }
    let transport = session.replayed
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchVerioDriver().read(Self.connection(transport))
    }
    #expect(failure?.message.contains("nothing was written") == true)
    #expect(transport.isExhausted)
  }

  @Test func aDeviceOfAnotherVendorOrLinkReceivesNoOneTouchCommand() {
    let transport = WrittenSession().replayed
    for model in [
      MeterModel("a stick", vendorID: 0x0951, productID: 0x1666, link: .disk),
      MeterModel("a line", vendorID: 0x2766, productID: 0, link: .hid),
    ] {
      let failure = #expect(throws: Failure.self) {
        _ = try OneTouchVerioDriver().identify(MeterConnection(transport, model: model, now: { 0 }))
      }
      #expect(failure?.message.contains("nothing was written") == true)
    }
  }

  @Test func aOneTouchVerioSectorThatStillHoldsTheRequestIsReadAgain() throws {
    var session = Self.begun()
    session.add(Self.writing(3, Self.serialRequest))
    session.add(Self.reading(3), .success(Self.sector(Self.serialRequest)))
    session.add(Self.reading(3), .success(Self.sector(Self.serialAnswer)))
    for (request, answer) in Self.identifying.dropFirst() { session.exchange(request, answer) }
    #expect(
      try OneTouchVerioDriver().identify(Self.connection(session.replayed)).device.serial == "ZAHLGH6C")
  }

  @Test func aDamagedOneTouchVerioAnswerIsRequestedAgainAndThenFails() throws {
    var damaged = Self.serialAnswer
    damaged[7] ^= 1
    var session = Self.begun()
    session.exchange(Self.serialRequest, damaged)
    session.add(Self.writing(3, Self.serialRequest))
    session.add(Self.reading(3), .failure(.stalled))
    var good = session
    good.exchange(Self.serialRequest, Self.serialAnswer)
    for (request, answer) in Self.identifying.dropFirst() { good.exchange(request, answer) }
    #expect(
      try OneTouchVerioDriver().identify(Self.connection(good.replayed)).device.serial == "ZAHLGH6C")
    session.exchange(Self.serialRequest, damaged)
    let transport = session.replayed
    let failure = #expect(throws: Failure.self) {
      try OneTouchVerioDriver().identify(Self.connection(transport))
    }
    #expect(failure?.category == .protocolViolation)
    #expect(transport.isExhausted)
  }

  @Test(arguments: [
    (TransportError.timedOut, FailureCategory.protocolViolation), (.unplugged, .unavailable),
    (.interrupted, .temporary),
  ]) func aFailedExchangeEndsTheOneTouchVerioSession(error: TransportError, category: FailureCategory) {
    var session = Self.identified()
    session.add(
      Self.writing(3, [UInt8](printed: "02 0c 00 03 31 02 00 00 00 03 ed 4c")), .failure(error))
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchVerioDriver().read(Self.connection(session.replayed))
    }
    #expect(failure?.category == category)
    #expect(failure?.message.hasPrefix("reading record 1 of 2: ") == true)
  }

  @Test func theClockOfAOneTouchVerioIsSetAndReadBack() throws {
    let time = try #require(DeviceTime(text: "2024-09-23T10:58:59"))
    var session = Self.begun()
    session.exchange(SheetFrame.frame("03 20 01 73 06 84 2e"), [UInt8](printed: "02 08 00 04 06 03 78 c1"))
    let wrong = session
    session.exchange(
      [UInt8](printed: "02 09 00 03 20 02 03 d4 92"),
      [UInt8](printed: "02 0c 00 04 06 73 06 84 2e 03 59 e0"))
    try OneTouchVerioDriver().setClock(Self.connection(session.replayed), to: time)
    // After it was set, the clock shows an earlier time, or a time that is eleven seconds later.
    for shown in ["03 06 73 06 84 2d", "03 06 7e 06 84 2e"] {
      var session = wrong
      session.exchange([UInt8](printed: "02 09 00 03 20 02 03 d4 92"), SheetFrame.frame(shown))
      #expect(throws: Failure.self) {
        try OneTouchVerioDriver().setClock(Self.connection(session.replayed), to: time)
      }
    }
    #expect(throws: Failure.self) {
      try OneTouchVerioDriver().setClock(
        Self.connection(Self.begun().replayed), to: DeviceTime(seconds: 946_684_799))
    }
  }

  @Test func aOneTouchVerioClockThatWasNeverSetIsReportedAndNotCompared() throws {
    var session = Self.begun()
    for (request, answer) in Self.identifying.dropLast(2) { session.exchange(request, answer) }
    session.exchange([UInt8](printed: "02 09 00 03 20 02 03 d4 92"), SheetFrame.frame("03 06 00 00 00 00"))
    session.exchange([UInt8](printed: "02 09 00 03 27 00 03 26 71"), SheetFrame.frame("03 06 00 00"))
    let contents = try OneTouchVerioDriver().read(Self.connection(session.replayed))
    #expect(contents.identity.clock == nil)
    #expect(contents.warnings == ["the meter's clock is not set"])
  }
}

extension WrittenSession {
  /// A request that is written into the general sector, and the answer that is read from it.
  fileprivate mutating func exchange(_ request: [UInt8], _ answer: [UInt8]) {
    let padded = { (frame: [UInt8]) in frame + [UInt8](repeating: 0, count: 512 - frame.count) }
    add(.commandWriting([0x2A, 0, 0, 0, 0, 3, 0, 0, 1, 0], padded(request)))
    add(.command([0x28, 0, 0, 0, 0, 3, 0, 0, 1, 0], reads: 512), .success(padded(answer)))
  }
}
