// SPDX-License-Identifier: Apache-2.0

import Logbook
import MeterConformance
import SeededRandom
import SimulatedMeters
import Testing

@testable import Meters

/// Tests the Accu-Chek Mobile's report and its disk. All data is constructed, and the column names are from
/// reports that people published.
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

  @Test func everyColumnOfAnAccuChekMobileReportIsRead() throws {
    let report = try AccuChekReport(parsing: Self.report(Self.rows))
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
    "01.02.2020;25:15;5.4;mmol/l;;;;;;", "01.02.2020;07:15;5.4;mmol/l",
    "01.02.2020;07:15;5.4;mmol/l; ; ; ; ; ; ;X",
    "01.02.2020;07:15;1e5;mmol/l;;;;;;", "01/02/2020;07:15;5.4;mmol/l;;;;;;",
    "01.02.2020;07:15;0;mmol/l;;;;;;",
  ])
  func anAmbiguousReportRowIsRejectedWithItsLine(row: String) throws {
    let report = try AccuChekReport(parsing: Self.report([row] + Self.rows))
    #expect(report.rejections.map(\.line) == [4])
    #expect(report.readings.count == Self.rows.count)
  }

  @Test func aReportRowWithoutAResultIsCountedAsSkipped() throws {
    let report = try AccuChekReport(parsing: Self.report(["01.02.2020;07:15; ;mmol/l;;;;;;", "", ";;;"]))
    #expect(report.skipped == ["row without a result": 1])
  }

  @Test(arguments: [
    "", "a;b\r\nc", "a\r\n;b;c\r\nd", "a;b\r\nserial;01.01.2020;10:00\r\nDate;Time;Result\r\n",
  ])
  func anotherTableIsNotReadAsAnAccuChekMobileReport(text: String) {
    #expect(throws: MalformedReport.self) { try AccuChekReport(parsing: Array(text.utf8)) }
  }

  @Test func aReportRowMarkedBeforeAndAfterAMealKeepsOnlyItsValue() throws {
    let report = try AccuChekReport(
      parsing: Self.report(["01.02.2020;07:15;5.4;mmol/l;X; ; ;X;X;"] + Self.rows))
    #expect(report.readings.count == Self.rows.count + 1)
    #expect(report.readings[0].measurement == .value(Quantity(5.4, .millimolesPerLitre)))
    #expect(report.readings[0].marks == .temperatureWarning)
    #expect(report.rejections.isEmpty && report.contradictoryMarks == 1)
  }

  // MARK: Columns

  private static let twelve =
    "Datum;Uhrzeit;Messwert;Einheit;Temperaturwarnung;Außerhalb Zielbereich;Sonstiges;Vor Mahlzeit;Nach Mahlzeit;"
    + "Nüchtern;Schlafenszeit;Funktionskontrolle" + String(repeating: " ", count: 100)
  /// Column names in a language that no known report has.
  private static let unnamed = (1...12).map { "Columna \($0)" }
  private static let twelveRows = [
    "10.10.2016;13:15;91;mg/dl; ; ; ;X; ; ; ; ;", "10.10.2016;07:15;92;mg/dl; ; ; ; ; ;X; ; ;",
    "09.10.2016;22:15;93;mg/dl; ; ; ; ; ; ;X; ;", "09.10.2016;13:15;94;mg/dl; ; ; ; ; ; ; ;X;",
    "08.10.2016;13:15;95;mg/dl; ; ; ; ;X; ; ; ;", "07.10.2016;13:15;96;mg/dl; ; ; ; ; ; ; ; ;",
  ]
  private static let twelveMarks: [ReadingMarks] = [
    .beforeMeal, .fasting, .bedtime, .controlSolution, .afterMeal, [],
  ]

  private static func report(_ columns: String?, _ rows: [String]) -> [UInt8] {
    let lines =
      ["Seriennummer;Datum;Uhrzeit", "U100000042;20.11.2016;10:00;;;;;;;"] + [columns].compactMap(\.self)
    return Array((lines + rows).map { $0 + "\r\n" }.joined().utf8)
  }

  @Test(arguments: [twelve, unnamed.joined(separator: ";"), nil])
  func aTwelveColumnReportHasFastingAndBedtimeMarks(columns: String?) throws {
    // Without a header, the number of fields in a row must be the number of columns, so the empty last field
    // is removed.
    let rows = columns == nil ? Self.twelveRows.map { String($0.dropLast()) } : Self.twelveRows
    let report = try AccuChekReport(parsing: Self.report(columns, rows))
    #expect(report.readings.map(\.marks) == Self.twelveMarks)
    #expect(report.readings.compactMap(\.measurement.quantity?.number) == [91, 92, 93, 94, 95, 96])
    #expect(report.rejections.isEmpty && report.contradictoryMarks == 0)
  }

  @Test(arguments: DriverTrial.all.filter { $0.family.variant.hasPrefix("12 columns") })
  func everyMarkOfTheSimulatedTwelveColumnReportIsRead(trial: DriverTrial) throws {
    let marks: [ReadingMarks] = [.fasting, .bedtime, .controlSolution, .beforeMeal, .afterMeal, []]
    let memory = trial.memory(marks.map { (.smbg, .milligrams(100), $0) })
    let contents = try trial.read(trial.meter(memory)).result.get()
    #expect(contents.readings.reversed().map(\.marks) == marks)
    #expect(contents.identity.device.model == "Accu-Chek Mobile")
  }

  @Test func namedReportColumnsMayBeInAnyOrder() throws {
    let report = try AccuChekReport(
      parsing: Self.report(
        "Control test;Fasting;Unit;Result;Time;Date",
        ["X; ;mg/dl;91;13:15;10.10.2016", " ;X;mg/dl;92;07:15;10.10.2016"]))
    #expect(report.readings.map(\.marks) == [.controlSolution, .fasting])
    #expect(report.readings.compactMap(\.measurement.quantity?.number) == [91, 92])
  }

  @Test func aTenColumnReportInAnUnknownLanguageIsReadByColumnPosition() throws {
    let report = try AccuChekReport(
      parsing: Self.report(Self.unnamed.prefix(10).joined(separator: ";"), Self.rows))
    #expect(report.readings.map(\.marks)[3] == .controlSolution)
    #expect(report.readings.count == Self.rows.count)
  }

  /// Headers with an unknown number of columns, with a known name in another position, or with a name that
  /// occurs twice. One report has eleven columns and no header.
  @Test(arguments: [
    unnamed.prefix(11).joined(separator: ";"), (unnamed + ["Columna 13"]).joined(separator: ";"),
    "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;After meal;Snack;Control test",
    "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;After meal;Control test;A;B",
    "Date;Time;Result;Unit;Temperature warning;Out of target range;Other;Before meal;Before meal;Control test",
    "10.10.2016;13:15;91;mg/dl; ; ; ; ; ; ;X",
  ])
  func aReportWithUnknownColumnsIsRefused(columns: String) throws {
    #expect(throws: MalformedReport.self) {
      try AccuChekReport(parsing: Self.report(columns, Self.twelveRows))
    }
    var image = FaultyFATImage(width: 16)
    image.write([("A.CSV", Self.report(columns, Self.twelveRows))], in: "U1")
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect {
      try AccuChekMobileDriver().read(meter)
    } throws: { error in
      (error as? Failure)?.category == .protocolViolation && "\(error)".contains("A.CSV: it")
    }
  }

  @Test(arguments: [(12, 0), (16, 0), (16, 63), (32, 0), (32, 2048)])
  func anAccuChekMobileReportIsFoundOnFAT12FAT16AndFAT32(width: Int, start: Int) throws {
    var image = FaultyFATImage(width: width, after: start)
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

  @Test func theErrorForADiskWithoutAReportStatesTheNextStep() throws {
    var image = FaultyFATImage(width: 16)
    image.write([], in: "U1")
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect {
      try AccuChekMobileDriver().identify(meter)
    } throws: { error in
      "\(error)".contains("Reports") && (error as? Failure)?.category == .unavailable
    }
  }

  @Test func theLongNameOfTheReportFolderStatesTheMeterModel() throws {
    var image = FaultyFATImage(width: 16)
    image.write([("A.CSV", Self.report(Self.rows))], in: "ACCU-C~1", longName: "Accu-Chek Mobile Größe 2")
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect(try AccuChekMobileDriver().identify(meter).device.model == "Accu-Chek Mobile Größe 2")
  }

  /// The long name belongs to a deleted file, lacks a piece, or has two pieces in the wrong order.
  @Test(arguments: [FaultyFATImage.LongNameFault.sum, .cut, .order])
  func aDamagedLongFolderNameIsIgnored(fault: FaultyFATImage.LongNameFault) throws {
    var image = FaultyFATImage(width: 16)
    image.write(
      [("A.CSV", Self.report(Self.rows))], in: "U1", longName: "Somebody else's long name", fault: fault)
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect(try AccuChekMobileDriver().identify(meter).device.model == "Accu-Chek Mobile U1")
  }

  @Test func theAccuChekMobileDriverWaitsForADiskThatIsNotReady() throws {
    var image = FaultyFATImage(width: 16)
    image.write([("A.CSV", Self.report(Self.rows))], in: "U1")
    let transport = DiskTransport(image, refusals: 80)
    let meter = MeterConnection(transport, model: AccuChekMobileDriver.models[0]) { 0 }
    var waited = 0
    meter.pause = { waited += $0 }
    #expect(try AccuChekMobileDriver().read(meter).readings.count == Self.rows.count)
    #expect((15_000...30_000).contains(waited))
  }

  @Test func aMeterDiskThatIsNeverReadyFailsTheRead() throws {
    let transport = DiskTransport(FaultyFATImage(width: 16), refusals: .max)
    let meter = MeterConnection(transport, model: AccuChekMobileDriver.models[0]) { 0 }
    var waited = 0
    meter.pause = { waited += $0 }
    #expect {
      try AccuChekMobileDriver().read(meter)
    } throws: {
      ($0 as? Failure)?.category == .unavailable
    }
    #expect((20_000...60_000).contains(waited))
  }

  @Test func theDriverDoesNotWaitIfTheDiskIsReady() throws {
    var image = FaultyFATImage(width: 16)
    image.write([("A.CSV", Self.report(Self.rows))], in: "U1")
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    var waited = 0
    meter.pause = { waited += $0 }
    _ = try AccuChekMobileDriver().read(meter)
    #expect(waited == 0)
  }

  @Test func aFATFolderWithALoopIsRefusedAsDamaged() throws {
    var image = FaultyFATImage(width: 16)
    image.write([("A.CSV", Self.report(Self.rows))], in: "U1")
    for cluster in 2..<12 { image.set(cluster, to: UInt32(cluster)) }
    var volume = try FATVolume(image)
    let model = try #require(try volume.root().first)
    #expect(throws: FATError(part: "a folder's chain")) { try volume.contents(of: model) }
  }

  @Test(arguments: [0x0000, 0x0001, 0xFFF0] as [UInt32])
  func aFATClusterChainThatLeavesTheDiskIsRefusedAsDamaged(next: UInt32) throws {
    var image = FaultyFATImage(width: 16, sectorsPerCluster: 1)
    image.write([("A.CSV", Self.report(Self.rows + Self.rows))], in: "U1")
    image.set(2, to: next)
    let meter = MeterConnection(DiskTransport(image), model: AccuChekMobileDriver.models[0]) { 0 }
    #expect(throws: Failure.self) { try AccuChekMobileDriver().identify(meter) }
  }

  @Test func arbitraryBytesNeverCrashTheAccuChekMobileReportParser() {
    var random = SeededGenerator(seed: 21)
    let reports = [Self.report(Self.rows), Self.report(Self.twelve, Self.twelveRows)]
    for round in 0..<1000 {
      let bytes = random.mutated(reports[round % 2])
      guard case .success(let report) = Result(catching: { try AccuChekReport(parsing: bytes) }) else {
        continue
      }
      #expect(report.readings.count <= bytes.count)
    }
  }

  @Test func anArbitraryFATFileSystemNeverCrashesTheReader() {
    var random = SeededGenerator(seed: 512)
    for round in 0..<300 {
      var image = FaultyFATImage(width: [12, 16, 32][round % 3], after: round % 2 * 8)
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
