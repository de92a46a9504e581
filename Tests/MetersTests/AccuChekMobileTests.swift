// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// The Accu-Chek Mobile's report, and the disk on which it lies. All constructed: no public capture exists.
struct AccuChekMobileTests {
  private static let columns =
    "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;After meal;Control test"
    + String(repeating: " ", count: 197)

  private static func report(
    serial: String = "U100000042", made: String = "20.11.2026;10:00", _ rows: [String]
  )
    -> [UInt8]
  {
    let lines = ["Serial number;Report date;Report time;;;;;;;", "\(serial);\(made);;;;;;;", columns] + rows
    return Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
  }

  private static let rows = [
    "01.02.2020;07:15;5.4;mmol/l; ; ;X; ; ;", "01.02.2020;08:00;6.0;mmol/l;X; ; ;X; ; ",
    "02.02.2020;08:00;112;mg/dl; ;X; ; ;X; ", "02.02.2020;09:00;98;mg/dl; ; ; ; ; ;X",
    "03.02.2020;09:00;HI;mg/dl; ; ; ; ; ; ", "03.02.2020;09:01;lo;mg/dl; ; ; ; ; ; ",
  ]

  @Test func everyColumnOfARowIsTaken() throws {
    let report = try #require(AccuChekReport(parsing: Self.report(Self.rows)))
    #expect(report.serial == "U100000042")
    #expect(report.madeAt?.text == "2026-11-20T10:00:00")
    #expect(
      report.readings.map(\.measurement) == [
        .value(Quantity(5.4, .millimolesPerLitre)), .value(Quantity(6, .millimolesPerLitre)),
        .value(Quantity(112, .milligramsPerDecilitre)), .value(Quantity(98, .milligramsPerDecilitre)),
        .high(above: nil, .milligramsPerDecilitre), .low(below: nil, .milligramsPerDecilitre),
      ])
    #expect(
      report.readings.map(\.marks) == [
        [], [.temperatureWarning, .beforeMeal], .afterMeal, .controlSolution, [], [],
      ])
    #expect(report.readings[0].deviceTime.text == "2020-02-01T07:15:00")
    #expect(report.rejections.isEmpty)
  }

  @Test(arguments: [
    "01.02.2020;07:15;5,4;mmol/l;;;;;;", "01.02.2020;07:15;5.4;g/l;;;;;;",
    "31.02.2020;07:15;5.4;mmol/l;;;;;;",
    "01.02.2020;25:15;5.4;mmol/l;;;;;;", "01.02.2020;07:15;5.4;mmol/l;;;;X;X;", "01.02.2020;07:15;5.4;mmol/l",
    "01.02.2020;07:15;1e5;mmol/l;;;;;;", "01/02/2020;07:15;5.4;mmol/l;;;;;;",
    "01.02.2020;07:15;0;mmol/l;;;;;;",
  ])
  func aRowThatSaysNothingCertainIsRejectedByItsLine(row: String) throws {
    let report = try #require(AccuChekReport(parsing: Self.report([row] + Self.rows)))
    #expect(report.rejections.map(\.line) == [4])
    #expect(report.readings.count == Self.rows.count)
  }

  @Test func aRowWithoutAResultIsCounted() throws {
    let report = try #require(
      AccuChekReport(parsing: Self.report(["01.02.2020;07:15; ;mmol/l;;;;;;", "", ";;;"])))
    #expect(report.skipped == ["row without a result": 1])
  }

  @Test(arguments: [
    "", "a;b\r\nc", "a\r\n;b;c\r\nd", "a;b\r\nserial;01.01.2020;10:00\r\nDate;Time;Result\r\n",
  ])
  func anotherTableIsNoReport(text: String) { #expect(AccuChekReport(parsing: Array(text.utf8)) == nil) }

  @Test(arguments: [(12, 0), (16, 0), (16, 63), (32, 0), (32, 2048)])
  func aReportIsFoundOnEveryWidthOfTheFileSystem(width: Int, start: Int) throws {
    var image = FATImage(width: width, behind: start)
    let many = Self.rows + (0..<400).map { "04.02.2020;\($0 / 60):\($0 % 60);\(80 + $0 % 50);mg/dl;;;;;;" }
    image.write(
      [
        ("A.CSV", Self.report(made: "19.11.2026;10:00", ["01.02.2019;07:15;5.4;mmol/l;;;;;;"])),
        ("B.CSV", Self.report(many)), ("C.CSV", Self.report(made: "18.11.2026;10:00", [])),
        ("D.TXT", [1, 2, 3]),
      ], in: "U1")
    let transport = DiskTransport(image)
    let meter = MeterConnection(transport, model: AccuChekMobileDriver.models[0]) { 1_800_000_000 }
    let contents = try AccuChekMobileDriver().read(meter)
    #expect(contents.readings.count == many.count)
    #expect(contents.identity.count == many.count)
    #expect(contents.identity.device.model == "Accu-Chek Mobile U1")
    #expect(contents.identity.device.serial == "U100000042")
    #expect(transport.sectorsRead < 300)
  }

  @Test func aDiskWithoutAReportSaysWhatToDo() throws {
    var image = FATImage(width: 16)
    image.write([], in: "U1")
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect {
      try AccuChekMobileDriver().identify(meter)
    } throws: { error in
      "\(error)".contains("Reports") && (error as? Failure)?.category == .unavailable
    }
  }

  @Test func aFolderThatRunsInACircleIsBroken() throws {
    var image = FATImage(width: 16)
    image.write([("A.CSV", Self.report(Self.rows))], in: "U1")
    for cluster in 2..<12 { image.set(cluster, to: UInt32(cluster)) }
    var volume = try FATVolume(image)
    let model = try #require(try volume.root().first)
    #expect(throws: FATError(part: "a folder's chain")) { try volume.contents(of: model) }
  }

  @Test(arguments: [0x0000, 0x0001, 0xFFF0] as [UInt32])
  func aChainThatLeavesTheDiskIsBroken(next: UInt32) throws {
    var image = FATImage(width: 16, sectorsPerCluster: 1)
    image.write([("A.CSV", Self.report(Self.rows + Self.rows))], in: "U1")
    image.set(2, to: next)
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect(throws: Failure.self) { try AccuChekMobileDriver().identify(meter) }
  }

  @Test func anyBytesAreAReportOrNone() {
    var random = SeededGenerator(seed: 21)
    let report = Self.report(Self.rows)
    for _ in 0..<500 { _ = AccuChekReport(parsing: random.mutated(report)) }
  }

  @Test func anyFileSystemIsReadOrRefused() {
    var random = SeededGenerator(seed: 512)
    for round in 0..<300 {
      var image = FATImage(width: [12, 16, 32][round % 3], behind: round % 2 * 8)
      image.write([("A.CSV", Self.report(Self.rows))], in: "U1")
      let written = image.sectors.keys.sorted()
      for _ in 0..<4 {
        guard let sector = written.randomElement(using: &random) else { continue }
        image.change(
          sector, Int.random(in: 0..<64, using: &random), to: UInt8.random(in: 0...255, using: &random))
      }
      let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
      do {
        _ = try AccuChekMobileDriver().read(meter)
      } catch {
        #expect(error is Failure)
      }
    }
  }
}
