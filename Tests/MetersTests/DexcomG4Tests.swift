// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests sessions with a Dexcom receiver.
struct DexcomG4Tests {
  private static let manufacturing =
    "<ManufacturingParameters SerialNumber=\"SM00000001\" HardwarePartNumber=\"MD1060-MT20649\" />"
  private static let g4 =
    "<FirmwareHeader ProductId='G4Receiver' ProductName='Dexcom G4 Receiver' FirmwareVersion='2.0.1.104' />"

  private static func connection(_ transport: ReplayedTransport) -> MeterConnection {
    MeterConnection(transport, model: DexcomG4Driver.models[0], now: { 1_379_126_600 })
  }

  private static func textPage(_ number: UInt8) -> [UInt8] {
    let text = Array(manufacturing.utf8)
    let record = [UInt8](printed: "00*8") + text + [UInt8](repeating: 0, count: 490 - text.count)
    return SheetFrame.page(0, revision: 1, number: number, [SheetFrame.record(record)])
  }

  /// The requests and answers that identify the receiver in every session. The clock's offset and system time
  /// are recorded, and the texts are constructed.
  private static func identified(_ firmware: String = g4) -> WrittenSession {
    var session = WrittenSession()
    session.exchange("01 06 00 0A 5E 65", [UInt8](printed: "01 06 00 01 35 D4"))
    session.exchange("01 06 00 0B 7F 75", SheetFrame.packet(1, Array(firmware.utf8)))
    session.exchange(
      "01 07 00 10 00 0F F8", SheetFrame.packet(1, [UInt8](printed: "00 00 00 00 01 00 00 00")))
    session.exchange(
      SheetFrame.packet(0x11, [UInt8](printed: "00 01 00 00 00 01")), SheetFrame.packet(1, textPage(1)))
    session.exchange("01 06 00 1D 88 07", [UInt8](printed: "01 0A 00 01 B7 9D FF FF 57 99"))
    session.exchange("01 06 00 22 34 C0", [UInt8](printed: "01 0A 00 01 C9 C5 D7 08 A0 9E"))
    return session
  }

  private static func pages(_ partition: UInt8, _ first: UInt8, _ pages: [[UInt8]]) -> (
    request: [UInt8], answer: [UInt8]
  ) {
    (
      SheetFrame.packet(0x11, [partition, first, 0, 0, 0, UInt8(pages.count)]),
      SheetFrame.packet(1, pages.flatMap { $0 })
    )
  }

  private static let values = [
    "EC 9E D7 08 A2 3C D7 08 58 00 14 D2 30", "18 A0 D7 08 CE 3D D7 08 59 00 14 23 54",
    "70 A2 D7 08 26 40 D7 08 62 00 14 4D 73",
  ].map { [UInt8](printed: $0) }

  private static let empty = SheetFrame.packet(1, [UInt8](printed: "FF*8"))

  /// A session that reads the memory: first the range of pages of each partition, then the pages. The history
  /// has five pages, which need two answers. Every other partition has one page.
  private static func memory(_ history: [[UInt8]]) -> WrittenSession {
    var session = identified()
    session.exchange(
      "01 07 00 10 04 8B B8", SheetFrame.packet(1, [UInt8](printed: "03 00 00 00 07 00 00 00")))
    session.exchange(
      "01 07 00 10 0A 45 59", SheetFrame.packet(1, [UInt8](printed: "22 00 00 00 22 00 00 00")))
    session.exchange(
      SheetFrame.packet(0x10, [11]), SheetFrame.packet(1, [UInt8](printed: "09 00 00 00 09 00 00 00")))
    let (first, second) = (Array(history.prefix(4)), Array(history.dropFirst(4)))
    for (number, part) in [(3, first), (7, second)] as [(UInt8, [[UInt8]])] {
      let (request, answer) = pages(4, number, part)
      session.exchange(request, answer)
    }
    let calibration = [UInt8](printed: "D6 C1 D7 08 8C 5F D7 08 55 00 B8 C1 D7 08 A7 5F")
    let insulin = [UInt8](printed: "A6 5F D7 08 5C FD D6 08 02 00 50 FD D6 08 5E 01 00 00 FC FF")
    for (partition, number, record) in [(10, 0x22, calibration), (11, 9, insulin)]
      as [(UInt8, UInt8, [UInt8])]
    {
      let page = SheetFrame.page(partition, revision: 1, number: number, [record])
      let (request, answer) = pages(partition, number, [page])
      session.exchange(request, answer)
    }
    return session
  }

  private static func history(_ number: UInt8, _ records: [[UInt8]]) -> [UInt8] {
    SheetFrame.page(4, revision: 2, number: number, records)
  }

  private static let fivePages = [
    history(3, [values[0]]), history(4, [values[1]]), history(5, []), history(6, [values[2]]), history(7, []),
  ]

  @Test func everyPageOfADexcomG4IsReadIntoReadingsAndDiaryRecords() throws {
    let transport = Self.memory(Self.fivePages).replayed
    let contents = try DexcomG4Driver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(
      contents.identity.device
        == Device(vendor: "Dexcom", model: "G4 Receiver", serial: "SM00000001", format: "dexcom-g4"))
    #expect(contents.identity.firmware == "2.0.1.104")
    #expect(contents.identity.clock?.meter.text == "2013-09-13T19:44:00")
    #expect(contents.readings.map(\.kind) == [.cbg, .cbg, .cbg, .smbg])
    #expect(contents.readings.map(\.tick) == [0x08D7_9EEC, 0x08D7_A018, 0x08D7_A270, nil])
    #expect(contents.readings.allSatisfy { !$0.marks.contains(.clockSetBack) })
    #expect(contents.records.map(\.kind) == [.insulin])
    #expect(contents.rejections.isEmpty)
    #expect(contents.skipped.isEmpty)
  }

  @Test func readingsAfterADexcomDisplayClockWasSetBackAreMarked() throws {
    var pages = Self.fivePages
    // Compared with the reading before, the system time is five minutes later, but the shown time was set
    // back by an hour.
    pages[4] = Self.history(7, [SheetFrame.record([UInt8](printed: "9C A3 D7 08 42 33 D7 08 63 00 14"))])
    let contents = try DexcomG4Driver().read(Self.connection(Self.memory(pages).replayed))
    #expect(contents.readings.map { $0.marks.contains(.clockSetBack) } == [false, false, false, true, false])
    #expect(contents.skipped == ["change of the clock": 1])
  }

  @Test func damagedDexcomRecordsAreRejectedWithTheirNumber() throws {
    var pages = Self.fivePages
    var record = Self.values[1]
    record[8] ^= 1
    pages[1] = Self.history(4, [record])
    pages[2][0] ^= 1
    pages[4] = SheetFrame.page(4, revision: 9, number: 7, [Self.values[1]])
    let contents = try DexcomG4Driver().read(Self.connection(Self.memory(pages).replayed))
    #expect(contents.readings.count == 3)
    #expect(contents.rejections.map(\.line) == [2, 3, 5])
    #expect(
      contents.rejections.map(\.reason) == [
        "a record with a wrong checksum", "a page with a damaged header",
        "the record has the undocumented revision 9",
      ])
  }

  @Test func anEmptyDexcomReceiverOfALaterModelIsAskedForBothHistories() throws {
    var session = Self.identified("<FirmwareHeader ProductId=\"OrionReceiver\" FirmwareVersion=\"5\"/>")
    for partition in [4, 18, 10, 11] as [UInt8] {
      session.exchange(SheetFrame.packet(0x10, [partition]), Self.empty)
    }
    let transport = session.replayed
    let contents = try DexcomG4Driver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(contents.readings.isEmpty)
    #expect(contents.identity.device.model == "G6 Receiver")
  }

  @Test func aDexcomAnswerInPiecesIsAssembled() throws {
    var session = WrittenSession()
    session.add(.discard)
    session.send([UInt8](printed: "01 06 00 0A 5E 65"))
    session.receive([UInt8](printed: "01 06 00 01"))
    session.receive([UInt8](printed: "35 D5"))
    var hopeless = session
    session.add(.discard)
    session.send([UInt8](printed: "01 06 00 0A 5E 65"))
    session.receive([0x00])
    for byte in [UInt8](printed: "01 06 00 01 35 D4") { session.receive([byte]) }
    for step in Self.identified().steps.dropFirst(3) { session.add(step.exchange, step.result) }
    #expect(try DexcomG4Driver().identify(Self.connection(session.replayed)).device.serial == "SM00000001")
    for _ in 0..<2 { hopeless.exchange("01 06 00 0A 5E 65", [UInt8](printed: "01 06 00 01 35 D5")) }
    let transport = hopeless.replayed
    let failure = #expect(throws: Failure.self) {
      try DexcomG4Driver().identify(Self.connection(transport))
    }
    #expect(failure?.category == .protocolViolation)
    #expect(transport.isExhausted)
  }

  @Test(arguments: [
    ("DA 04 00 00 D9 04 00 00", "impossible range"), ("00 00 00 00 00 FF 00 00", "impossible range"),
    ("00 00", "too short"),
  ]) func anImpossiblePageRangeOfADexcomIsRefused(printed: String, words: String) {
    var session = Self.identified()
    session.exchange("01 07 00 10 04 8B B8", SheetFrame.packet(1, [UInt8](printed: printed)))
    let failure = #expect(throws: Failure.self) {
      _ = try DexcomG4Driver().read(Self.connection(session.replayed))
    }
    #expect(failure?.message.contains(words) == true)
  }

  @Test(arguments: [
    ([history(4, [])], "another page"), ([Array(history(3, []).dropLast())], "another number of bytes"),
    ([SheetFrame.page(10, revision: 1, number: 3, [])], "another page"),
  ]) func anUnrequestedDexcomPageIsRefused(pages: [[UInt8]], words: String) {
    var session = Self.identified()
    session.exchange(
      "01 07 00 10 04 8B B8", SheetFrame.packet(1, [UInt8](printed: "03 00 00 00 03 00 00 00")))
    for partition in [10, 11] as [UInt8] {
      session.exchange(SheetFrame.packet(0x10, [partition]), Self.empty)
    }
    session.exchange(
      SheetFrame.packet(0x11, [UInt8](printed: "04 03 00 00 00 01")), SheetFrame.packet(1, pages[0]))
    let failure = #expect(throws: Failure.self) {
      _ = try DexcomG4Driver().read(Self.connection(session.replayed))
    }
    #expect(failure?.message.contains(words) == true)
  }

  @Test func dexcomErrorsStateWhatWasRequested() {
    var session = WrittenSession()
    session.exchange("01 06 00 0A 5E 65", SheetFrame.packet(7))
    let refused = #expect(throws: Failure.self) {
      try DexcomG4Driver().identify(Self.connection(session.replayed))
    }
    #expect(refused?.message == "asking which receiver it is: the receiver refused: it is in another mode")
    var silent = Self.identified()
    silent.add(.discard)
    silent.send([UInt8](printed: "01 07 00 10 04 8B B8"))
    silent.receive(.unplugged)
    let unplugged = #expect(throws: Failure.self) {
      _ = try DexcomG4Driver().read(Self.connection(silent.replayed))
    }
    #expect(unplugged?.category == .unavailable)
  }

  /// The request, which sets an offset of minus seven hours, is constructed and not recorded.
  @Test func theClockOfADexcomIsSetThroughItsDisplayOffset() throws {
    let time = try #require(DeviceTime(text: "2013-09-13T19:43:21"))
    var session = WrittenSession()
    session.exchange("01 06 00 22 34 C0", [UInt8](printed: "01 0A 00 01 C9 C5 D7 08 A0 9E"))
    session.exchange("01 0A 00 1E 90 9D FF FF 97 9E", [UInt8](printed: "01 06 00 01 35 D4"))
    var wrong = session
    session.exchange("01 06 00 1D 88 07", SheetFrame.packet(1, [UInt8](printed: "90 9D FF FF")))
    let transport = session.replayed
    try DexcomG4Driver().setClock(Self.connection(transport), to: time)
    #expect(transport.isExhausted)
    wrong.exchange("01 06 00 1D 88 07", [UInt8](printed: "01 0A 00 01 B7 9D FF FF 57 99"))
    #expect(throws: Failure.self) {
      try DexcomG4Driver().setClock(Self.connection(wrong.replayed), to: time)
    }
  }
}

extension WrittenSession {
  fileprivate mutating func exchange(_ request: String, _ answer: [UInt8]) {
    exchange([UInt8](printed: request), answer)
  }

  /// A request, and its answer in transfers of 64 bytes.
  fileprivate mutating func exchange(_ request: [UInt8], _ answer: [UInt8]) {
    add(.discard)
    send(request)
    for start in stride(from: 0, to: answer.count, by: 64) {
      receive(Array(answer[start..<min(start + 64, answer.count)]))
    }
  }
}
