// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

private func hex(_ text: String) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }

private func time(_ text: String) -> DeviceTime { DeviceTime(text: text) ?? DeviceTime(seconds: 0) }

private func strip(_ text: String, _ number: Double, marks: ReadingMarks = []) -> SimulatedItem {
  SimulatedItem(at: time(text), .value(Quantity(number, .milligramsPerDecilitre)), marks: marks)
}

/// Tests the simulated OneTouch meters, compared with documented examples.
struct LifeScanModelTests {
  private func memory(_ items: [SimulatedItem] = [], serial: String, clock: String = "2024-09-23T10:58:59")
    -> SimulatedMemory
  {
    var memory = SimulatedMemory(clock: time(clock))
    memory.serial = serial
    memory.items = items
    return memory
  }

  @Test(arguments: [
    "02 06 08 03 c2 62", "02 06 06 03 cd 41", "02 0a 00 03 e6 02 00 03 74 5e", "02 08 00 04 06 03 78 c1",
    "02 1a 00 04 06 5a 00 41 00 48 00 4c 00 47 00 48 00 36 00 43 00 00 00 03 7c 69",
    "02 0c 00 04 06 73 06 84 2e 03 59 e0", "02 11 00 03 06 54 47 4b 48 51 30 4d 39 00 03 85 84",
    "02 1a 02 05 06 11 50 30 32 2e 30 30 2e 30 30 32 35 2f 30 35 2f 30 37 03 ab 25",
  ])
  func theDocumentedOneTouchCRCsAreReproduced(_ text: String) throws {
    let frame = try #require(OneTouchFrame(parsing: hex(text)))
    #expect(frame.bytes == hex(text))
    var changed = hex(text)
    changed[2] ^= 1
    #expect(OneTouchFrame(parsing: changed) == nil)
  }

  // MARK: The disk

  private static let tag: [UInt8] = [7, 0, 0, 0]

  private func block(_ length: Int, reads: Bool, _ command: [UInt8]) -> [UInt8] {
    Array("USBC".utf8) + Self.tag + littleEndian(UInt32(length)) + [
      reads ? 0x80 : 0, 0, UInt8(command.count),
    ]
      + command + [UInt8](repeating: 0, count: 16 - command.count)
  }

  private func sectorCommand(_ code: UInt8, _ sector: UInt8) -> [UInt8] {
    [code, 0, 0, 0, 0, sector, 0, 0, 1, 0]
  }

  private func status(_ residue: Int = 0, isGood: Bool = true) -> PacketBytes {
    .data(Array("USBS".utf8) + Self.tag + littleEndian(UInt32(residue)) + [isGood ? 0 : 1])
  }

  private func data(_ answer: PacketAnswer) -> [UInt8]? {
    if case .data(let bytes) = answer { bytes } else { nil }
  }

  private func give(_ disk: SimulatedOneTouchDisk, _ maxBytes: Int) -> PacketBytes {
    PacketBytes(disk.nextPacket(endpoint: 0x81, maxBytes: maxBytes))
  }

  /// Writes a request into a mailbox sector and reads the answer from it.
  private func exchange(_ disk: SimulatedOneTouchDisk, _ request: String, sector: UInt8 = 3) throws
    -> [UInt8]
  {
    let bytes = hex(request)
    #expect(disk.accept(block(512, reads: false, sectorCommand(0x2A, sector)), endpoint: 2))
    #expect(disk.accept(bytes + [UInt8](repeating: 0, count: 512 - bytes.count), endpoint: 2))
    #expect(give(disk, 13) == status())
    #expect(disk.accept(block(512, reads: true, sectorCommand(0x28, sector)), endpoint: 2))
    guard case .data(let answer) = disk.nextPacket(endpoint: 0x81, maxBytes: 512) else { return [] }
    #expect(answer.count == 512)
    #expect(give(disk, 13) == status())
    return Array(answer.prefix(Int(answer[1])))
  }

  @Test func theSimulatedOneTouchVerioFlexAnswersLikeTheRecordedOne() throws {
    let disk = SimulatedOneTouchDisk(
      memory([strip("2021-08-12T13:48:25", 50)], serial: "ZAHLGH6C"), model: .verioFlex)
    #expect(
      try exchange(disk, "02 0a 00 04 e6 02 00 03 a0 39")
        == hex("02 1a 00 04 06 5a 00 41 00 48 00 4c 00 47 00 48 00 36 00 43 00 00 00 03 7c 69"))
    #expect(
      try exchange(disk, "02 0a 00 04 e6 02 01 03 91 0a")
        == hex("02 1e 00 04 06 56 00 65 00 72 00 69 00 6f 00 20 00 46 00 6c 00 65 00 78 00 00 00 03 e2 ee"))
    #expect(try exchange(disk, "02 09 00 04 20 02 03 f9 c3") == hex("02 0c 00 04 06 73 06 84 2e 03 59 e0"))
    #expect(try exchange(disk, "02 09 00 03 27 00 03 26 71") == hex("02 0a 00 03 06 01 00 03 ce 83"))
    // In the recording, the record has the id 22 and precedes fourteen others, so its first bytes differ.
    // The other bytes are equal.
    let record = try exchange(disk, "02 0c 00 04 31 02 00 00 00 03 a9 55")
    #expect(record[10...20] == hex("29 e3 a7 28 32 00 00 00 93 0b 00")[...])
    #expect(Array(record[..<10]) == hex("02 18 00 04 06 00 00 00 09 00"))
    #expect(try exchange(disk, "02 0c 00 03 31 02 01 00 00 03 59 3a") == OneTouchFrame([3, 7]).bytes)
  }

  @Test func theSimulatedOneTouchReportsItsUnitInASeparateSector() throws {
    var held = memory(serial: "A")
    held.unit = .millimolesPerLitre
    let disk = SimulatedOneTouchDisk(held)
    #expect(
      try exchange(disk, "02 09 00 04 04 00 03 9d ff", sector: 4)
        == hex("02 0c 00 03 06 01 00 00 00 03 f2 45"))
    #expect(
      try exchange(disk, "02 08 00 03 04 03 8a 22", sector: 4) == hex("02 0c 00 03 06 01 00 00 00 03 f2 45"))
    #expect(try exchange(disk, "02 09 00 03 04 00 03 b0 ae", sector: 3) == hex("02 08 00 03 09 03 d6 54"))
    #expect(try exchange(disk, "02 09 00 03 04 00 03 b0 af", sector: 4) == hex("02 08 00 03 09 03 d6 54"))
    let unset = SimulatedOneTouchDisk(memory(serial: "A"))
    #expect(
      try exchange(unset, "02 09 00 03 04 00 03 b0 ae", sector: 4)
        == hex("02 0c 00 03 06 00 00 00 00 03 a3 ef"))
  }

  @Test func marksAndLimitsOfTheSimulatedOneTouchHaveTheDocumentedPositions() throws {
    let items = [
      SimulatedItem(at: time("2024-01-01"), .low(below: 20, .milligramsPerDecilitre)),
      SimulatedItem(at: time("2024-01-01T01:00"), .high(above: 600, .milligramsPerDecilitre)),
      strip("2024-01-02T03:04:05", 112, marks: [.controlSolution, .beforeMeal]),
    ]
    let disk = SimulatedOneTouchDisk(memory(items, serial: "A"), model: .selectPlus)
    let newest = try exchange(disk, "02 0c 00 03 31 02 00 00 00 03 ed 4c")
    #expect(Array(newest[5...20]) == hex("02 00 01 0b 00 a5 39 26 2d 70 00 01 00 93 0b 00"))
    #expect(try exchange(disk, "02 0c 00 03 31 02 01 00 00 03 59 3a")[14...15] == [0x59, 0x02])
    #expect(
      !SimulatedOneTouchDisk.holds(SimulatedItem(.ketone, at: time("2024-01-01"), items[0].measurement)))
    #expect(!SimulatedOneTouchDisk.holds(strip("2024-01-01", 700)))
    let verio = SimulatedOneTouchDisk(memory(items, serial: "A"), model: .verio)
    #expect(try exchange(verio, "02 0c 00 03 31 02 00 00 00 03 ed 4c")[16] == 0)
  }

  @Test func theSimulatedOneTouchSetsItsClockAndErasesItsMemoryOnCommand() throws {
    let disk = SimulatedOneTouchDisk(memory(serial: "A"))
    #expect(try exchange(disk, "02 0c 00 04 20 01 a5 39 26 2d 03 00 00") == hex("02 08 00 03 09 03 d6 54"))
    let set = OneTouchFrame([4, 0x20, 0x01] + hex("a5 39 26 2d")).bytes.map { String($0, radix: 16) }
    #expect(try exchange(disk, set.joined(separator: " ")) == hex("02 08 00 04 06 03 78 c1"))
    #expect(disk.clock == time("2024-01-02T03:04:05") && !disk.wasErased)
    let erase = OneTouchFrame([3, 0x1A]).bytes.map { String($0, radix: 16) }
    #expect(try exchange(disk, erase.joined(separator: " ")) == hex("02 08 00 03 06 03 e8 44"))
    #expect(disk.wasErased)
  }

  @Test func theSimulatedOneTouchDiskStatesItsVendorAndProduct() throws {
    let disk = SimulatedOneTouchDisk(memory(serial: "A"))
    #expect(
      disk.accept(
        hex("55 53 42 43 01 00 00 00 60 00 00 00 80 00 0a 12 00 00 00 00 00 00 00 60 00 00 00 00 00 00 00"),
        endpoint: 2))
    let answer = try #require(data(disk.nextPacket(endpoint: 0x81, maxBytes: 0x60)))
    #expect(answer.count == 36 && Array(answer[8..<16]) == Array("LifeScan".utf8))
    #expect(give(disk, 13) == .data(hex("55 53 42 53 01 00 00 00 3c 00 00 00 00")))
    #expect(disk.accept(block(512, reads: true, sectorCommand(0x28, 0)), endpoint: 2))
    let sector = try #require(data(disk.nextPacket(endpoint: 0x81, maxBytes: 512)))
    #expect(Array(sector[0x2B...0x3A]) == Array("LIFESCAN   FAT16".utf8))
    #expect(disk.deviceDescriptor.count == 18 && disk.configurationDescriptor.count == 32)
    #expect(disk.strings.last == "LifeScan MSC")
  }

  @Test func commandsThatTheSimulatedOneTouchRefusesEndWithAStatus() {
    let disk = SimulatedOneTouchDisk(memory(serial: "A"))
    var forced = sectorCommand(0x28, 3)
    forced[1] = 0x08
    for command in [forced, [0xC0], Array(sectorCommand(0x28, 3).dropLast(2)) + [2, 0]] {
      #expect(disk.accept(block(512, reads: true, command), endpoint: 2))
      #expect(give(disk, 512) == .stall)
      #expect(give(disk, 13) == status(512, isGood: false))
    }
    #expect(give(disk, 13) == .nothing)
    #expect(!disk.accept([1, 2, 3], endpoint: 2) && !disk.accept([], endpoint: 9))
    #expect(give(disk, 13) == .stall)
    _ = disk.control(ControlRequest(type: 0x21, request: 0xFF, value: 0, index: 0), maxBytes: 0, data: [])
    #expect(disk.accept(block(0, reads: false, [0, 0, 0, 0, 0, 0]), endpoint: 2))
    #expect(give(disk, 13) == status())
  }

  // MARK: Verio IQ

  @Test func theSimulatedOneTouchVerioIQAnswersAsDocumented() {
    let item = strip("2024-01-02T03:04:05", 112)
    let meter = SimulatedVerioIQ(
      memory([strip("2024-01-02T03:04:05", 112, marks: .controlSolution), item], serial: "TGKHQ0M9"))
    let line = LineSettings(baud: 38400)
    func exchange(_ text: String) -> [UInt8] { meter.accept(hex(text), line: line) }
    #expect(
      exchange("02 0a 00 03 0b 01 02 03 2a dc") == hex("02 11 00 03 06 54 47 4b 48 51 30 4d 39 00 03 85 84"))
    #expect(exchange("02 0a 00 04 0b 00 02 03 ce 8c").prefix(5) == hex("02 11 00 04 06")[...])
    #expect(exchange("02 09 00 03 0d 01 03 10 03") == OneTouchFrame([3, 6, 4] + "1.23".utf8 + [0]).bytes)
    // The answer has the same length as that of a recorded meter.
    let name = exchange("02 08 00 04 06 03 78 c1")
    #expect(name.count == 34 && name.starts(with: [2, 0x22, 0, 4, 6] + Array("VerioIQ".utf8) + [0]))
    #expect(exchange("02 0a 00 03 09 02 02 03 12 68") == hex("02 0c 00 03 06 00 00 00 00 03 a3 ef"))
    #expect(exchange("02 09 00 03 27 00 03 26 71") == OneTouchFrame([3, 6, 2, 0]).bytes)
    #expect(
      exchange("02 0a 00 03 21 00 00 03 9d d2")
        == hex("02 12 00 03 06 a5 39 26 2d 70 00 00 00 00 00 03 9a ab"))
    #expect(
      exchange("02 0a 00 03 21 01 00 03 ad e5")
        == hex("02 12 00 03 06 a5 39 26 2d 70 00 01 00 00 00 03 cb 01"))
    #expect(exchange("02 0a 00 03 21 01 00 03 ad e6").isEmpty)
    #expect(meter.accept(hex("02 09 00 03 27 00 03 26 71"), line: LineSettings(baud: 9600)).isEmpty)
    #expect(exchange("00 ff 02 09").isEmpty)
    #expect(exchange("00 03 27 00 03 26 71").count == 10)
  }

  @Test func theSimulatedOneTouchUltraAnswersHaveTheLayoutOfRecordedOnes() {
    var held = memory([strip("2014-08-09T17:21:48", 104)], serial: "ABC1DE2FT", clock: "2014-08-12T15:40:16")
    held.firmware = "P02.00.01"
    let meter = SimulatedUltra2(held, model: .ultra)
    func exchange(_ command: String) -> String {
      String(
        decoding: meter.accept([0x11, 0x0D] + Array(command.utf8), line: LineSettings(baud: 9600)),
        as: UTF8.self)
    }
    // The line with the version is equal on every meter with this software.
    #expect(exchange("DM?") == "?P02.00.01   /  /   034C\r\n")
    #expect(exchange("DM@").hasPrefix("@ \"ABC1DE2FT\" "))
    #expect(exchange("DMF").hasPrefix("F \"TUE\",\"08/12/14\",\"15:40:16   \" "))
    let dump = exchange("DMP").split(separator: "\r\n")
    #expect(dump.count == 2 && dump[0].hasPrefix("P 001,\"ABC1DE2FT\",\"MG/DL \" "))
    #expect(dump.last?.hasPrefix("P \"SAT\",\"08/09/14\",\"17:21:48   \",\"  104 \", 00 ") == true)
  }

  // MARK: UltraEasy

  /// A recorded session between the manufacturer's software and a meter.
  private static let session: [(String, String)] = [
    ("02 06 08 03 c2 62", "02 06 0c 03 06 ae"),
    (
      "02 09 00 05 0d 02 03 da 71",
      "02 06 06 03 cd 41 02 1a 02 05 06 11 50 30 32 2e 30 30 2e 30 30 32 35 2f 30 35 2f 30 37 03 ab 25"
    ),
    ("02 06 07 03 fc 72", ""),
    (
      "02 12 03 05 0b 02 00 00 00 00 00 00 00 00 00 03 ba 6a",
      "02 06 05 03 9e 14 02 11 01 05 06 43 47 57 41 31 45 35 43 52 03 10 94"
    ),
    ("02 06 04 03 af 27", ""), ("02 06 08 03 c2 62", "02 06 0c 03 06 ae"),
    (
      "02 0e 00 05 09 02 09 00 00 00 00 03 ce e7",
      "02 06 06 03 cd 41 02 0c 02 05 06 01 00 00 00 03 71 6b"
    ),
    ("02 06 07 03 fc 72", ""),
    ("02 0a 03 05 1f 00 02 03 29 39", "02 06 05 03 9e 14 02 0a 01 05 0f 03 00 03 fc 96"),
    ("02 06 04 03 af 27", ""),
    ("02 0a 00 05 1f 00 00 03 ab 91", "02 06 06 03 cd 41 02 10 02 05 06 95 d1 64 4e c4 00 00 00 03 43 4d"),
    ("02 06 07 03 fc 72", ""),
    ("02 0a 03 05 1f 01 00 03 7b 68", "02 06 05 03 9e 14 02 10 01 05 06 a5 70 64 4e 50 00 00 00 03 68 d2"),
    ("02 06 04 03 af 27", ""),
    ("02 0a 00 05 1f 02 00 03 cb ff", "02 06 06 03 cd 41 02 10 02 05 06 6b 18 62 4e ac 00 00 00 03 d1 c2"),
    ("02 06 07 03 fc 72", ""),
    (
      "02 0d 03 05 20 02 00 00 00 00 03 a8 4c", "02 06 05 03 9e 14 02 0c 01 05 06 16 35 65 4e 03 7e 0e"
    ),
  ]

  @Test func theSimulatedOneTouchUltraEasyAnswersLikeTheRecordedOne() {
    var held = memory(
      [
        strip("2011-09-03T12:07:07", 172), strip("2011-09-05T06:48:05", 80),
        strip("2011-09-05T13:41:41", 196),
      ],
      serial: "CGWA1E5CR", clock: "2011-09-05T20:46:14")
    held.firmware = "P02.00.00"
    held.unit = .millimolesPerLitre
    let meter = SimulatedUltraEasy(held)
    for (request, answer) in Self.session {
      #expect(meter.accept(hex(request), line: LineSettings(baud: 9600)) == hex(answer), "\(request)")
    }
  }

  @Test func theSimulatedOneTouchUltraEasySendsLimitsAndRepeatsItsAnswer() {
    let items = [
      SimulatedItem(at: time("2024-01-02T03:04:05"), .low(below: 20, .milligramsPerDecilitre)),
      SimulatedItem(at: time("2024-01-02T03:04:05"), .high(above: 600, .milligramsPerDecilitre)),
    ]
    let meter = SimulatedUltraEasy(memory(items, serial: "C176SA0O0"))
    let line = LineSettings(baud: 9600)
    let high = meter.accept(hex("02 0a 00 05 1f 00 00 03 ab 91"), line: line)
    #expect(high.suffix(16) == hex("02 10 02 05 06 25 7d 93 65 ff ff 00 00 03 69 fa")[...])
    #expect(meter.accept(hex("02 0a 00 05 1f 00 00 03 ab 91"), line: line) == high)
    #expect(
      meter.accept(hex("02 0a 03 05 1f f5 01 03 d8 64"), line: line).suffix(10)
        == OneTouchFrame([5, 15, 2, 0], link: 1).bytes[...])
    #expect(
      meter.accept(hex("02 0d 00 05 20 01 25 7d 93 65 03 aa 2a"), line: line).suffix(12)
        == hex("02 0c 02 05 06 25 7d 93 65 03 86 44")[...])
    #expect(meter.clock == time("2024-01-02T03:04:05"))
    #expect(!SimulatedUltraEasy.holds(strip("2024-01-02", 100, marks: .controlSolution)))
  }

  // MARK: Ultra2

  /// Lines that real meters sent, with their checksums.
  @Test(arguments: [
    (#"?P02.00.00 01/18/08"#, "03BD"), (#"@ "HAXGR4PV""#, "02F8"),
    (#"T "SAT","08/03/13","22:12:00   ""#, "0608"),
    (#"P 003,"GMF600DCY","MG/DL ""#, "05A6"),
    (#"P "SAT","03/21/15","16:45:24   ","  081 ","N","03", 00"#, "09B6"),
    (#"P "WED","03/09/11","08:38:01   ","  242 ","N","00", 00"#, "09AA"), (#"ID "673451""#, "022B"),
    (#"SU?,"MG/DL ""#, "02CA"), (#"SU?,"MMOL/L""#, "0307"), ("Z", "005A"),
  ])
  func theChecksumsOfRealOneTouchUltraLinesAreReproduced(_ text: String, sum: String) {
    #expect(SimulatedUltra2.line(text) == "\(text) \(sum)\r\n")
  }

  private func exchange(_ meter: SimulatedUltra2, _ command: String) -> String {
    let bytes = [0x11, 0x0D] + Array(command.utf8)
    return String(decoding: meter.accept(bytes, line: LineSettings(baud: 9600)), as: UTF8.self)
  }

  @Test func theSimulatedOneTouchUltra2SendsItsMemory() {
    let meter = SimulatedUltra2(
      memory(
        [
          strip("2010-11-10T01:46:00", 76), strip("2011-03-09T08:38:01", 242),
          strip("2024-01-02T03:04:05", 112, marks: .controlSolution),
          strip("2024-01-02T03:04:05", 112, marks: .afterMeal),
        ], serial: "ABCDE123Y"), damaged: [3])
    let lines = exchange(meter, "DMP\r").split(separator: "\r\n").map(String.init)
    #expect(
      lines == [
        SimulatedUltra2.line(#"P 004,"ABCDE123Y","MG/DL ""#).dropLast().description,
        SimulatedUltra2.line(#"P "TUE","01/02/24","03:04:05   ","  112?","A","00", 00"#).dropLast()
          .description,
        #"P "TUE","01/02/24","03:04:05   ","C 112 ","N","00", 00 09CA"#,
        #"P "WED","03/09/11","08:38:01   ","  242 ","N","00", 00 09AA"#,
        #"P "WED","11/10/10","01:46:00   ","  076 ","N","00", 00 099C"#,
      ])
    #expect(
      exchange(SimulatedUltra2(memory(serial: "ABCDE123Y")), "DMP")
        == "P 000,\"ABCDE123Y\",\"MG/DL \" 0591\r\n")
  }

  @Test func theSimulatedOneTouchUltra2AnswersQueriesAndSetsItsClock() {
    var held = memory(
      [
        SimulatedItem(
          at: time("2017-07-14T10:10:53"), .high(above: 600, .milligramsPerDecilitre), marks: .beforeMeal)
      ],
      serial: "ABCDE123Y")
    held.unit = .millimolesPerLitre
    let meter = SimulatedUltra2(held, ignoresFirstCommand: true)
    #expect(exchange(meter, "DM@\r").isEmpty)
    #expect(exchange(meter, "DM@\r") == "@ \"ABCDE123Y\" 02E2\r\n")
    #expect(exchange(meter, "DMSU?") == "SU?,\"MMOL/L\" 0307\r\n")
    #expect(exchange(meter, "DMT08/03/13 22:12").isEmpty)
    #expect(exchange(meter, ":00\r\n") == "T \"SAT\",\"08/03/13\",\"22:12:00   \" 0608\r\n")
    #expect(exchange(meter, "DMF") == "F \"SAT\",\"08/03/13\",\"22:12:00   \" 05FA\r\n")
    #expect(exchange(meter, "DMP").contains(#"P "FRI","07/14/17","10:10:53   "," HIGH ","B","00", 00 "#))
    #expect(!meter.wasErased)
    #expect(exchange(meter, "xxDMZ") == "Z 005A\r\n")
    #expect(meter.wasErased)
    #expect(meter.accept(Array("DM?".utf8), line: LineSettings(baud: 38400)).isEmpty)
  }
}

/// The answer of an endpoint as a value that tests can compare.
private enum PacketBytes: Hashable {
  case data([UInt8])
  case nothing, stall

  init(_ answer: PacketAnswer) {
    switch answer {
    case .data(let bytes): self = .data(bytes)
    case .nothing: self = .nothing
    case .stall: self = .stall
    }
  }
}
