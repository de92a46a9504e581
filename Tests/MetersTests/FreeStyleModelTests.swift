// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated FreeStyle meters. The expected frames, checksums and rows are from USB captures and
/// from the tests of other programs.
struct FreeStyleModelTests {
  private typealias Variant = SimulatedFreeStyle.Variant

  private static func memory() throws -> SimulatedMemory {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2014-08-27T13:22:09")))
    memory.serial = "JAGT241-U6242"
    memory.firmware = "1.40"
    return memory
  }

  private static func item(
    _ kind: ReadingKind, _ time: String, _ measurement: Measurement, _ marks: ReadingMarks = []
  ) throws -> SimulatedItem {
    SimulatedItem(kind, at: try #require(DeviceTime(text: time)), measurement, marks: marks)
  }

  private static func value(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }

  /// Sends a frame to the control endpoint and returns the frames received, without keep-alives.
  private static func session(_ meter: SimulatedFreeStyle, _ type: UInt8, _ content: String = "") -> [[UInt8]]
  {
    let frame = [type, UInt8(content.utf8.count)] + Array(content.utf8)
    let report = ControlRequest(type: 0x21, request: 0x09, value: 0x0200, index: 0)
    let padded = frame + [UInt8](repeating: 0xCD, count: 64 - frame.count)
    guard case .accepted = meter.control(report, maxBytes: 64, data: padded) else { return [] }
    return frames(of: meter).filter { $0[0] != 0x22 }
  }

  private static func frames(of meter: SimulatedFreeStyle) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    while case .data(let frame) = meter.nextPacket(endpoint: 0x81, maxBytes: 64) {
      #expect(frame.count == 64)
      frames.append(frame)
    }
    return frames
  }

  private static func command(_ meter: SimulatedFreeStyle, _ text: String) -> String {
    let frames = session(meter, 0x60, text)
    #expect(frames.allSatisfy { $0[0] == 0x60 })
    return String(decoding: frames.flatMap { $0[2..<2 + Int($0[1])] }, as: UTF8.self)
  }

  private static func started(
    _ memory: SimulatedMemory, _ variant: SimulatedFreeStyle.Variant,
    packing: SimulatedFreeStyle.Packing = .lines
  ) -> SimulatedFreeStyle {
    let meter = SimulatedFreeStyle(memory, variant: variant, packing: packing)
    _ = session(meter, 0x01)
    return meter
  }

  @Test func theUSBDescriptorsOfTheSimulatedInsuLinxAreThoseOfARealOne() throws {
    let meter = SimulatedFreeStyle(try Self.memory(), variant: .insuLinx)
    #expect(meter.deviceDescriptor == HexSession.hex("12 01 10 01 00 00 00 40 61 1a 50 34 00 01 01 02 00 01"))
    #expect(
      meter.configurationDescriptor
        == HexSession.hex(
          "09 02 22 00 01 01 03 c0 32 09 04 00 00 01 03 00 00 04 09 21 10 10 00 01 22 23 00 07 05 81 03 40 00 02"
        ))
    let withOut = SimulatedFreeStyle(try Self.memory(), hasOutEndpoint: true).configurationDescriptor
    #expect(Int(withOut[2]) == withOut.count && withOut[13] == 2)
  }

  @Test func theSimulatedFreeStyleStartsASessionAsInTheCapture() throws {
    let meter = SimulatedFreeStyle(try Self.memory(), variant: .insuLinx)
    #expect(Self.session(meter, 0x04).first?.prefix(3) == [0x34, 0x01, 0x0C])
    #expect(
      Self.session(meter, 0x05).first?.prefix(16)
        == HexSession.hex("06 0e 4a 41 47 54 32 34 31 2d 55 36 32 34 32 00")[...])
    #expect(Self.session(meter, 0x15).first?.prefix(7) == HexSession.hex("35 05 31 2e 34 30 00")[...])
    #expect(Self.session(meter, 0x60, "$date?\r\n").first?.prefix(3) == [0x30, 0x01, 0x85])
    #expect(Self.session(meter, 0x01).first?.prefix(3) == [0x71, 0x01, 0x01])
    #expect(Self.session(meter, 0x99).first?.prefix(3) == [0x30, 0x01, 0x85])
  }

  @Test func theSimulatedFreeStyleSendsTheChecksumsOfTheCapture() throws {
    let meter = Self.started(try Self.memory(), .insuLinx)
    let end = "\r\nCMD OK\r\n"
    #expect(Self.command(meter, "$serlnum?\r\n") == "JAGT241-U6242\r\nCKSM:00000324" + end)
    #expect(Self.command(meter, "$swver?") == "1.40\r\n0\r\nCKSM:00000121" + end)
    #expect(Self.command(meter, "$date?") == "8,27,14\r\nCKSM:00000175" + end)
    #expect(Self.command(meter, "$time?\r\n") == "13,22\r\nCKSM:0000010B" + end)
    #expect(Self.command(meter, "$gunits?") == "1\r\nCKSM:00000048" + end)
    #expect(Self.command(meter, "$ptname?") == "\r\nCKSM:00000017" + end)
    #expect(Self.command(meter, "$sn?") == "CKSM:00000000\r\nCMD Fail!\r\n")
    meter.hasLostClock = true
    #expect(Self.command(meter, "$date?") == "255,255,255\r\nCKSM:00000243" + end)
    #expect(Self.command(meter, "$time?") == "255,255\r\nCKSM:0000017B" + end)
  }

  @Test func theClockOfTheSimulatedFreeStyleIsSetAsInTheCapture() throws {
    let meter = Self.started(try Self.memory(), .precisionNeo)
    #expect(Self.command(meter, "$time,13,40\r\n") == "CKSM:00000000\r\nCMD OK\r\n")
    #expect(Self.command(meter, "$date,09,01,26") == "CKSM:00000000\r\nCMD OK\r\n")
    #expect(meter.memory.clock.text == "2026-09-01T13:40:09")
    #expect(Self.command(meter, "$date,13,1,26").hasSuffix("CMD Fail!\r\n"))
  }

  @Test func theSimulatedFreeStyleSendsAKeepAliveBeforeEveryThirdAnswer() throws {
    let meter = Self.started(try Self.memory(), .libre)
    let report = ControlRequest(type: 0x21, request: 0x09, value: 0x0200, index: 0)
    var first: [[UInt8]] = []
    for _ in 0..<2 {
      let frame: [UInt8] = [0x60, 4] + Array("$sn?".utf8)
      _ = meter.control(report, maxBytes: 64, data: frame + [UInt8](repeating: 0, count: 58))
      first = Self.frames(of: meter)
    }
    #expect(first.map { $0[0] } == [0x22, 0x60])
    try #require(first.count == 2)
    #expect(first[0].prefix(3) == [0x22, 0x01, 0x05] && first[0][3...].contains { $0 != 0 })
  }

  @Test func theSimulatedFreeStyleNeoSendsItsRowsWithChecksums() throws {
    var memory = try Self.memory()
    memory.items = [
      try Self.item(.ketone, "2017-07-18T14:36:00", .value(Quantity(1.0 / 18, .millimolesPerLitre))),
      try Self.item(.smbg, "2017-07-18T15:00:00", Self.value(112)),
      try Self.item(.smbg, "2017-07-18T15:01:00", Self.value(105), .controlSolution),
      try Self.item(.smbg, "2017-07-18T15:02:00", .high(above: 500, .milligramsPerDecilitre)),
      try Self.item(.ketone, "2017-07-18T18:33:00", .value(Quantity(6.0 / 18, .millimolesPerLitre))),
    ]
    let text = Self.command(Self.started(memory, .precisionNeo), "$result?")
    let lines = text.split(separator: "\r\n")
    try #require(lines.count > 5)
    #expect(
      lines.prefix(5) == [
        "9,5,7,18,17,18,33,1,6,1,0", "7,4,7,18,17,15,2,1,HI,0,1,0,1,66,1,0,0,0,1",
        "7,3,7,18,17,15,1,1,105,0,0,0,1,66,1,0,0,0,1", "7,2,7,18,17,15,0,1,112,0,1,0,1,66,1,0,0,0,1",
        "9,1,7,18,17,14,36,1,1,1,0",
      ])
    #expect(lines[5].hasPrefix("5,"))
  }

  @Test(arguments: SimulatedFreeStyle.Packing.allCases)
  func bothChecksumsOfASimulatedFreeStyleTableAreCorrect(packing: SimulatedFreeStyle.Packing) throws {
    var memory = try Self.memory()
    memory.items = [
      try Self.item(.cbg, "2019-04-08T22:56:13", Self.value(191)),
      try Self.item(.scan, "2019-04-08T23:00:00", Self.value(118)),
      try Self.item(.smbg, "2019-04-08T23:01:00", .low(below: 40, .milligramsPerDecilitre)),
    ]
    let meter = Self.started(memory, .libre, packing: packing)
    let text = Self.command(meter, "$arresult?")
    let parts = text.split(separator: "CKSM:")
    try #require(parts.count == 2)
    let message = Array(parts[0].utf8)
    #expect(parts[1].hasPrefix(Self.sum(message)) && parts[1].hasSuffix("\r\nCMD OK\r\n"))
    let lines = parts[0].split(separator: "\r\n")
    try #require(!lines.isEmpty)
    let rows = lines.dropLast().flatMap { Array(($0 + "\r\n").utf8) }
    #expect(lines.last == "2,\(Self.sum(rows))")
    #expect(lines[0].hasPrefix("58003,2,4,8,19,23,1,0,1,0,0,1,40,0,0,"))
    #expect(
      lines.dropLast().allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == 35 })
    #expect(Self.command(meter, "$history?").hasPrefix("58001,12,4,8,19,22,56,13,1,0,0,0,0,191,15,0\r\n1,"))
  }

  private static func sum(_ bytes: [UInt8]) -> String {
    let digits = String(bytes.reduce(0) { $0 + Int($1) }, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  @Test func theSimulatedFreeStyleSplitsLinesAcrossFullFrames() throws {
    var memory = try Self.memory()
    memory.items = try (0..<20).map {
      try Self.item(.smbg, "2014-08-26T10:\(10 + $0):00", Self.value(Double(70 + $0)))
    }
    let full = Self.session(Self.started(memory, .insuLinx, packing: .full), 0x60, "$result?\r\n")
    #expect(full.dropLast().allSatisfy { $0[1] == 62 })
    let lines = Self.session(Self.started(memory, .insuLinx), 0x60, "$result?\r\n")
    #expect(lines.count >= 21)
    func text(_ frames: [[UInt8]]) -> [UInt8] { frames.flatMap { $0[2..<2 + Int($0[1])] } }
    #expect(text(full) == text(lines))
    #expect(
      String(decoding: text(full), as: UTF8.self).hasPrefix(
        "0,20058,8,26,14,10,29,1,0,0,0,3,0,89,0,0\r\n0,20055,"))
  }

  @Test(arguments: SimulatedFreeStyle.Variant.allCases)
  func theSimulatedFreeStyleReportsAnEmptyMemory(variant: SimulatedFreeStyle.Variant) throws {
    let meter = Self.started(try Self.memory(), variant)
    let isLibre = variant == .libre || variant == .librePro
    #expect(Self.command(meter, isLibre ? "$history?" : "$result?").hasPrefix("Log Empty\r\nCKSM:"))
    #expect(Self.command(meter, isLibre ? "$result?" : "$history?").hasSuffix("CMD Fail!\r\n"))
  }

  @Test func theSimulatedFreeStyleAlsoSendsRowsWithoutAMeasurement() throws {
    var memory = try Self.memory()
    memory.items = [
      try Self.item(.cbg, "2019-04-08T22:56:13", Self.value(191)),
      try Self.item(.smbg, "2014-08-26T10:10:00", Self.value(70)),
    ]
    let insuLinx = Self.started(memory, .insuLinx)
    insuLinx.hasOtherRows = true
    let rows = Self.command(insuLinx, "$result?").split(separator: "\r\n")
    try #require(rows.count > 1)
    #expect(rows[0] == "6,20003,8,26,14,10,10,1,8,26,14,10,10")
    #expect(rows[1] == "4,20002,8,26,14,10,10,1,0,5,70,160,26,2,0")
    let libre = Self.started(memory, .libre)
    libre.hasOtherRows = true
    #expect(Self.command(libre, "$history?").contains(",3765,32768\r\n"))
    let others = Self.command(libre, "$arresult?").split(separator: "\r\n")
    try #require(others.count > 1)
    #expect(others[0].split(separator: ",").count == 35 && others[0].contains(",32768,"))
    #expect(others[1].split(separator: ",").count == 20)
  }

  @Test func theSimulatedFreeStyleAcceptsFramesAtAnOutEndpoint() throws {
    let meter = SimulatedFreeStyle(try Self.memory(), hasOutEndpoint: true)
    #expect(meter.accept([0x01, 0x00], endpoint: 0x01))
    #expect(Self.frames(of: meter).first?.prefix(3) == [0x71, 0x01, 0x01])
    let real = SimulatedFreeStyle(try Self.memory())
    #expect(!real.accept([0x01, 0x00], endpoint: 0x01))
    let report = ControlRequest(type: 0x21, request: 0x09, value: 0x0200, index: 0)
    guard case .stall = real.control(report, maxBytes: 64, data: [0x01, 0x00]) else {
      Issue.record("a report that is too short was taken")
      return
    }
  }

  @Test func itemsThatAFreeStyleCannotStoreAreLeftOut() throws {
    let ketone = try Self.item(.ketone, "2019-04-08T22:56:13", .value(Quantity(1, .millimolesPerLitre)))
    let scan = try Self.item(.scan, "2019-04-08T22:56:13", Self.value(100))
    let control = try Self.item(.smbg, "2019-04-08T22:56:13", Self.value(100), .controlSolution)
    #expect(
      [ketone, scan, control].map { SimulatedFreeStyle.holds($0, variant: .insuLinx) } == [
        false, false, false,
      ])
    #expect(
      [ketone, scan, control].map { SimulatedFreeStyle.holds($0, variant: .precisionNeo) } == [
        true, false, true,
      ])
    #expect(
      [ketone, scan, control].map { SimulatedFreeStyle.holds($0, variant: .libre) } == [true, true, false])
    #expect(SimulatedFreeStyle.holds(try Self.item(.smbg, "2019-04-08T22:56:13", Self.value(100))))
  }
}
