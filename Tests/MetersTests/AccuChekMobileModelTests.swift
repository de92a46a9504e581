// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated Accu-Chek Mobile: the disk's transport, its file system and its report.
struct AccuChekMobileModelTests {
  private static func memory(_ unit: GlucoseUnit = .milligramsPerDecilitre) throws -> SimulatedMemory {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2020-02-01T08:00:00")))
    memory.serial = "U100012345"
    memory.unit = unit
    let time = try #require(DeviceTime(text: "2020-02-01T07:15:00"))
    let value = Measurement.value(Quantity(97, .milligramsPerDecilitre))
    memory.items = [
      SimulatedItem(at: time, value, marks: .beforeMeal),
      SimulatedItem(
        at: time, .low(below: nil, .milligramsPerDecilitre), marks: [.controlSolution, .temperatureWarning]),
    ]
    return memory
  }

  @Test func theSimulatedAccuChekMobileReportHasTheKnownColumns() throws {
    let lines = SimulatedAccuChekMobile.report(try Self.memory(.millimolesPerLitre)).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.count == 6)
    #expect(lines[1] == "U100012345;01.02.2020;08:00;;;;;;;")
    #expect(lines[2].hasPrefix("Date;Time;Result;Unit;Temperature warning;"))
    #expect(lines[2].hasSuffix("After meal;Control test" + String(repeating: " ", count: 197)))
    #expect(lines[3] == "01.02.2020;07:15;LO;mmol/l;X; ; ; ; ;X")
    #expect(lines[4] == "01.02.2020;07:15;5.4;mmol/l; ; ; ;X; ; ")
    #expect(SimulatedAccuChekMobile.report(try Self.memory()).contains("07:15;97;mg/dl; ; ; ;X; ; \r\n"))
  }

  @Test func theSimulatedTwelveColumnReportMatchesPublishedOnes() throws {
    var memory = try Self.memory()
    memory.items[0].marks = .fasting
    let lines = SimulatedAccuChekMobile.report(memory, .twelve).split(separator: "\r\n")
    #expect(
      lines[2].hasPrefix("Datum;Uhrzeit;Messwert;Einheit;Temperaturwarnung;Außerhalb Zielbereich;Sonstiges;"))
    #expect(
      lines[2].hasSuffix("Nüchtern;Schlafenszeit;Funktionskontrolle" + String(repeating: " ", count: 197)))
    #expect(lines[3] == "01.02.2020;07:15;LO;mg/dl;X; ; ; ; ; ; ;X;")
    #expect(lines[4] == "01.02.2020;07:15;97;mg/dl; ; ; ; ; ;X; ; ;")
  }

  @Test func aSimulatedDiskThatIsNotReadyRefusesWithAReason() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory(), refusals: 1)
    #expect(meter.accept(Self.block("00 00 00 00 00 00", reads: 0), endpoint: 2))
    #expect(Self.gives(meter)?.last == 1)
    #expect(meter.accept(Self.block("03 00 00 00 12 00", reads: 18), endpoint: 2))
    #expect(try #require(Self.gives(meter))[2] == 2)
    #expect(Self.gives(meter)?.last == 0)
    #expect(meter.accept(Self.block("00 00 00 00 00 00", reads: 0), endpoint: 2))
    #expect(Self.gives(meter) == Self.good())
  }

  @Test(arguments: SimulatedAccuChekMobile.Layout.allCases)
  func theSimulatedReportIsAFileInTwoFoldersOfEitherFATFileSystem(layout: SimulatedAccuChekMobile.Layout)
    throws
  {
    var memory = try Self.memory()
    memory.items = (0..<200).map { index in
      SimulatedItem(
        at: DeviceTime(seconds: 1_580_000_040 + index * 60), .value(Quantity(100, .milligramsPerDecilitre)))
    }
    let volume = FATReader(SimulatedAccuChekMobile(memory, layout: layout).disk.sectors)
    let root = volume.root
    #expect(root.map(\.long) == ["Accu-Chek Mobile"])
    let model = volume.entries(volume.content(root[0]))
    #expect(model.map(\.long) == ["Reports"])
    let reports = volume.entries(volume.content(model[0]))
    #expect(reports.map(\.long) == ["DiaryReport.csv"])
    let text = String(decoding: volume.content(reports[0]), as: UTF8.self)
    #expect(text == SimulatedAccuChekMobile.report(memory))
  }

  private static func block(_ command: String, reads: UInt32, isTowardsHost: Bool = true) -> [UInt8] {
    let command = [UInt8](printed: command)
    let length = (0..<4).map { UInt8(truncatingIfNeeded: reads >> (8 * $0)) }
    return [UInt8](printed: "55 53 42 43 07 00 00 00") + length + [
      isTowardsHost ? 0x80 : 0, 0, UInt8(command.count),
    ]
      + command + [UInt8](repeating: 0, count: 16 - command.count)
  }

  private static func gives(_ meter: SimulatedAccuChekMobile, maxBytes: Int = 512) -> [UInt8]? {
    if case .data(let bytes) = meter.nextPacket(endpoint: 0x81, maxBytes: maxBytes) { bytes } else { nil }
  }

  private static func good(residue: UInt8 = 0) -> [UInt8] {
    [UInt8](printed: "55 53 42 53 07 00 00 00") + [residue, 0, 0, 0, 0]
  }

  @Test func theStatusOfAShortDiskAnswerStatesTheMissingBytes() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory())
    #expect(meter.accept(Self.block("12 00 00 00 60 00", reads: 0x60), endpoint: 2))
    let inquiry = try #require(Self.gives(meter))
    #expect(inquiry.count == 36)
    #expect(inquiry[8..<13].elementsEqual("Roche".utf8))
    #expect(Self.gives(meter) == Self.good(residue: 60))
    #expect(Self.gives(meter) == nil)
  }

  @Test func simulatedDiskSectorsCanBeReadInAnyNumberOfTransfers() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory())
    #expect(meter.accept(Self.block("28 00 00 00 00 00 00 00 02 00", reads: 1024), endpoint: 2))
    let first = try #require(Self.gives(meter, maxBytes: 700))
    let second = try #require(Self.gives(meter, maxBytes: 700))
    #expect(first + second == Array(meter.disk.sectors[0..<2].joined()))
    #expect(Self.gives(meter) == Self.good())
  }

  @Test func aFailedDiskCommandStallsAndItsReasonCanBeRequested() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory())
    #expect(meter.accept(Self.block("28 00 00 FF 00 00 00 00 01 00", reads: 512), endpoint: 2))
    guard case .stall = meter.nextPacket(endpoint: 0x81, maxBytes: 512) else {
      Issue.record("no stall")
      return
    }
    #expect(Self.gives(meter) == [UInt8](printed: "55 53 42 53 07 00 00 00 00 02 00 00 01"))
    #expect(meter.accept(Self.block("03 00 00 00 12 00", reads: 18), endpoint: 2))
    let sense = try #require(Self.gives(meter))
    #expect(sense[2] == 5)
    #expect(sense[12] == 0x21)
  }

  @Test func aWriteToTheSimulatedDiskIsCountedAndRefused() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory())
    let before = meter.disk.sectors
    #expect(
      meter.accept(Self.block("2A 00 00 00 00 03 00 00 01 00", reads: 512, isTowardsHost: false), endpoint: 2)
    )
    #expect(meter.accept([UInt8](repeating: 0xAA, count: 512), endpoint: 2))
    #expect(Self.gives(meter)?.last == 1)
    #expect(meter.disk.writes == 1)
    #expect(meter.disk.sectors == before)
  }

  @Test func onlyAResetRecoversTheSimulatedDiskFromAnInvalidCommand() throws {
    let meter = SimulatedAccuChekMobile(try Self.memory())
    #expect(!meter.accept([1, 2, 3], endpoint: 2))
    #expect(!meter.accept(Self.block("00 00 00 00 00 00", reads: 0), endpoint: 2))
    _ = meter.control(ControlRequest(type: 0x21, request: 0xFF, value: 0, index: 0), maxBytes: 0, data: [])
    #expect(meter.accept(Self.block("00 00 00 00 00 00", reads: 0), endpoint: 2))
    #expect(Self.gives(meter) == Self.good())
  }
}

/// Reads the simulation's disk by the published rules of FAT.
private struct FATReader {
  struct Entry {
    var long: String
    var cluster: Int
    var size: Int
    var isFolder: Bool
  }

  private let volume: [[UInt8]]
  private let sectorsInCluster: Int
  private let isFAT12: Bool
  private let table: [UInt8]
  private let rootStart: Int
  private let rootSectors: Int

  init(_ sectors: [[UInt8]]) {
    let number = { (bytes: [UInt8], at: Int) in Int(bytes[at]) | Int(bytes[at + 1]) << 8 }
    let isPartitioned = sectors[0][0] != 0xEB
    volume = isPartitioned ? Array(sectors.dropFirst(number(sectors[0], 0x1BE + 8))) : sectors
    let boot = volume[0]
    sectorsInCluster = Int(boot[13])
    let tableSectors = number(boot, 22)
    table = Array(volume[1..<(1 + tableSectors)].joined())
    rootStart = 1 + 2 * tableSectors
    rootSectors = number(boot, 17) * 32 / 512
    let total = number(boot, 19)
    isFAT12 = (total - rootStart - rootSectors) / sectorsInCluster < 4085
  }

  var root: [Entry] { entries(Array(volume[rootStart..<(rootStart + rootSectors)].joined())) }

  func content(_ entry: Entry) -> [UInt8] {
    var bytes: [UInt8] = []
    var cluster = entry.cluster
    while cluster >= 2, cluster < (isFAT12 ? 0xFF0 : 0xFFF0) {
      let start = rootStart + rootSectors + (cluster - 2) * sectorsInCluster
      bytes += volume[start..<(start + sectorsInCluster)].joined()
      let place = isFAT12 ? cluster * 3 / 2 : cluster * 2
      let word = Int(table[place]) | Int(table[place + 1]) << 8
      cluster = !isFAT12 ? word : cluster % 2 == 0 ? word & 0xFFF : word >> 4
    }
    return entry.isFolder ? bytes : Array(bytes.prefix(entry.size))
  }

  func entries(_ bytes: [UInt8]) -> [Entry] {
    var found: [Entry] = []
    var long: [UInt16] = []
    for start in stride(from: 0, to: bytes.count, by: 32) where bytes[start] != 0 {
      let entry = Array(bytes[start..<(start + 32)])
      if entry[11] == 0x0F {
        let units = ([1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30] as [Int]).map {
          UInt16(entry[$0]) | UInt16(entry[$0 + 1]) << 8
        }
        long = units.filter { $0 != 0 && $0 != 0xFFFF } + long
        continue
      }
      if entry[0] != 0xE5, entry[0] != 0x2E, entry[11] & 0x08 == 0 {
        found.append(
          Entry(
            long: String(decoding: long, as: UTF16.self), cluster: Int(entry[26]) | Int(entry[27]) << 8,
            size: Int(entry[28]) | Int(entry[29]) << 8 | Int(entry[30]) << 16, isFolder: entry[11] & 0x10 != 0
          ))
      }
      long = []
    }
    return found
  }
}
