// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests how the kind of readings is found if the rows do not name it.
@Suite struct GenericKindTests {
  /// A table of readings at these minutes since 2026-05-01.
  private func table(_ minutes: some Sequence<Double>, header: String = "time,glucose (mg/dL)") -> String {
    let start = DeviceTime(text: "2026-05-01T00:00:00")?.seconds ?? 0
    return minutes.reduce(into: header + "\n") { text, minute in
      text += "\(DeviceTime(seconds: start + Int64(minute * 60)).text),\(90 + Int(minute) % 60)\n"
    }
  }

  private func kind(_ text: String, _ change: (inout ExportOptions) -> Void = { _ in }) throws -> String? {
    let export = try TextExport(text, change: change)
    let decision = try #require(export.decision("kind"))
    #expect(export.readings.allSatisfy { decision.hasPrefix($0.kind.name) })
    return decision
  }

  /// The minutes of a month's finger sticks. On some days, two of them are a few minutes apart.
  private static let sticks: [Double] = (0..<30).flatMap { day -> [Double] in
    let ofDay: [Int] = [425, 723, day % 3 == 0 ? 728 : 901, 1110, 1331]
    return ofDay.map { minute in Double(day * 1440 + minute + day * 7 % 11) }
  }

  @Test(arguments: [1.0, 3, 5, 10, 15])
  func valuesAtRegularTimesAreSensorReadings(_ minutes: Double) throws {
    #expect(try kind(table((0..<200).map { Double($0) * minutes })) == "cbg (inferred)")
  }

  @Test(arguments: [20.0, 30, 45]) func regularIntervalsTooLongForASensorRequireTheKindOption(
    _ minutes: Double
  )
    throws
  {
    let steady = (0..<200).map { Double($0) * minutes + [0, 2, -2, 1][$0 % 4] }
    let message = try #require(try ScratchFile(table(steady)).refusal())
    #expect(message.contains("--kind cbg") && message.contains("--kind smbg"), "\(message)")
    #expect(try kind(table(steady)) { $0.kind = .cbg } == "cbg (given)")
    // A person may also measure every 20 to 45 minutes, but only for a few hours.
    #expect(try kind(table(steady.prefix(20))) == "smbg (inferred)")
  }

  @Test(arguments: [70.0, 100])
  func longRegularIntervalsAreNotReadAsSensorValues(_ minutes: Double) throws {
    #expect(try kind(table((0..<200).map { Double($0) * minutes })) == "smbg (inferred)")
  }

  @Test func fingerSticksAreDetectedByTheirIrregularTimes() throws {
    #expect(try kind(table(Self.sticks)) == "smbg (inferred)")
    #expect(try kind(table(Self.sticks.reversed())) == "smbg (inferred)")
    // Values are still finger sticks if each test is repeated after two minutes.
    #expect(try kind(table(Self.sticks.flatMap { [$0, $0 + 2] })) == "smbg (inferred)")
  }

  @Test func clockDriftAndRoundingDoNotHideASensor() throws {
    let drift: [Double] = [0, 0.4, -0.5, 0.2, 1]
    let rough = (0..<300).map { (row: Int) -> Double in Double(row) * 5 + drift[row % 5] }
    #expect(try kind(table(rough)) == "cbg (inferred)")
  }

  @Test func gapsAndTheOrderOfRowsDoNotHideASensor() throws {
    // Two weeks of a sensor, with a third of the values missing.
    let times = (0..<4000).filter { $0 % 97 < 65 }.map { Double($0) * 5 }
    let shuffled = (0..<times.count).map { times[$0 * 1777 % times.count] }
    #expect(Set(shuffled) == Set(times))
    for order in [times, times.reversed(), shuffled] { #expect(try kind(table(order)) == "cbg (inferred)") }
  }

  @Test func aPartOfAnExportIsDetectedAsTheSameKindAsTheWhole() throws {
    let late: [Double] = [0.5, 0, 0, 0, 0, 0, 0]
    let sensor = (0..<2000).map { (row: Int) -> Double in Double(row * 5) + late[row % 7] }
    for part in [0..<4, 0..<20, 1700..<2000, 700..<1500] {
      #expect(try kind(table(sensor[part])) == "cbg (inferred)")
    }
    for count in 1...40 { #expect(try kind(table(Self.sticks.prefix(count))) == "smbg (inferred)") }
  }

  @Test func theKindOfReadingIsDetectedWithSeveralDevicesInOneTable() throws {
    let three = (0..<300).map { (row: Int) -> Double in Double(row / 3 * 5 + row % 3) }
    let lines = table(three).split(separator: "\n")
    let named = lines.dropFirst().enumerated().map { row, line in "\(line),Sensor \(row % 3)\n" }
    #expect(try kind("time,glucose (mg/dL),device\n" + named.joined()) == "cbg (inferred)")
    // These are the times of two sensors that no column distinguishes.
    let mixed = (0..<600).map { (row: Int) -> Double in Double(row / 2 * 5 + row % 2) }
    #expect(try kind(table(mixed)) == "cbg (inferred)")
  }

  @Test func theKindOfReadingIsDetectedInALongShuffledTable() throws {
    let count = 150_000
    let shuffled = (0..<count).lazy.map { (row: Int) -> Double in Double(row * 7919 % count) * 5 }
    #expect(try kind(table(shuffled)) == "cbg (inferred)")
  }

  @Test(arguments: [
    ("Fingerstick glucose (mg/dL)", "smbg (read)"), ("Strip Glucose mg/dL", "smbg (read)"),
    ("Kapillarglukose (mg/dl)", "smbg (read)"), ("sensor glucose (mg/dL)", "cbg (read)"),
    ("Historic Glucose mg/dL", "cbg (read)"), ("Scan Glucose mg/dL", "scan (read)"),
  ])
  func aKindWordInTheHeaderHasPrecedenceOverTheIntervalsBetweenReadings(_ name: String, _ decision: String)
    throws
  {
    #expect(try kind(table((0..<50).map { Double($0) * 5 }, header: "time,\(name)")) == decision)
    #expect(try kind(table(Self.sticks, header: "time,\(name)")) == decision)
  }

  /// FreeStyle and Medtronic are also names of meters, so they state no kind.
  @Test(arguments: [
    ("Libre (mg/dL)", "cbg (read)"), ("Freestyle Libre glucose", "cbg (read)"),
    ("Dexcom G7 (mg/dL)", "cbg (read)"), ("BZ Libre", "cbg (read)"),
    ("Glycémie capteur (mg/dL)", "cbg (read)"),
    ("Glucosa intersticial (mg/dL)", "cbg (read)"), ("Escaneo de glucosa (mg/dL)", "scan (read)"),
    ("FreeStyle (mg/dL)", "smbg (inferred)"), ("Contour (mg/dL)", "smbg (inferred)"),
    ("Glycémie (mg/dL)", "smbg (inferred)"), ("Libre meter glucose", "smbg (inferred)"),
    ("Glycémie (Libre bandelette)", "smbg (inferred)"), ("BG Libre blood", "smbg (inferred)"),
    ("Glucose manual (Dexcom)", "smbg (inferred)"),
  ])
  func theNameOfASensorInTheHeaderDeterminesTheKind(_ name: String, _ decision: String) throws {
    #expect(try kind(table(Self.sticks, header: "time,\(name)")) == decision)
  }

  @Test func aColumnThatOnlySensorsHaveDeterminesTheKind() throws {
    for name in ["trend", "Transmitter ID", "Sensor ID"] {
      let text = "time,glucose (mg/dL),\(name)\n2026-05-01 07:00,101,x\n2026-05-01 12:00,104,x\n"
      #expect(try kind(text) == "cbg (read)", "\(name)")
    }
  }

  @Test(arguments: [ReadingKind.smbg, .cbg, .scan])
  func theKindOptionHasPrecedenceOverTheHeader(_ given: ReadingKind) throws {
    #expect(
      try kind("time,sensor glucose\n2026-05-01 07:00,101\n") { $0.kind = given } == "\(given.name) (given)")
  }

  @Test func theKindInARowHasPrecedenceOverTheKindOption() throws {
    let text = "time,type,glucose\n2026-05-01 07:00,smbg,101\n2026-05-01 07:05,,104\n"
    let export = try TextExport(text) { $0.kind = .scan }
    #expect(export.readings.map(\.kind) == [.smbg, .scan])
    #expect(export.decision("kind") == "stated by the rows, else scan (given)")
  }

  @Test func theKindOfReadingIsDetectedWithTheGivenDateOrder() throws {
    let rows = (10..<40).map { "03/04/2026 08:\($0),1\($0)\n" }.joined()
    let export = try TextExport("time,glucose\n" + rows) { $0.dateOrder = "mdy" }
    #expect(export.decision("kind") == "cbg (inferred)")
    #expect(export.readings.first?.deviceTime.text == "2026-03-04T08:10:00")
  }

  /// When the kind is decided, only the first rows of a live pipe have arrived.
  @Test func aLivePipeHasTheKindOfItsFirstRowsOrTheGivenKind() throws {
    let cases: [(minutes: Double, given: ReadingKind?, expected: ReadingKind?)] = [
      (5, nil, .cbg), (300, .smbg, .smbg), (300, nil, nil),
    ]
    for (minutes, given, expected) in cases {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      let bytes = Array(table((0..<20).map { Double($0) * minutes }).utf8)
      let written = write(ends[1], bytes, bytes.count)
      try #require(written == bytes.count)
      var options = try Rendering.options()
      options.kind = given
      guard let expected else {
        let failure = try #require(throws: Failure.self) {
          _ = try InputReader(descriptor: ends[0], name: "-", options: options)
        }
        #expect(failure.category == .badInput && failure.message.contains("--kind"))
        close(ends[1])
        continue
      }
      var reader = try InputReader(descriptor: ends[0], name: "-", options: options)
      close(ends[1])
      var batch = IngestBatch()
      while try reader.read(into: &batch) {}
      #expect(batch.readings.map(\.kind) == Array(repeating: expected, count: 20))
    }
  }

  @Test func aKindOfGlucoseIsRefusedForATableOfKetones() throws {
    let rows = "2026-06-17 06:00:11,0.4\n2026-06-17 06:05:11,0.7\n"
    let file = try ScratchFile("Time,Ketone (mmol/L)\n\(rows)")
    #expect(
      try file.refusal { $0.kind = .cbg }?.contains("holds ketones, and no column holds glucose") == true)
    #expect(try file.readings { $0.kind = .ketone }.readings.count == 2)
    let sensor = try ScratchFile(
      "No.,Time,Sensor reading(mmol/L)\n1,\(rows.replacing("\n2026", with: "\n2,2026"))")
    #expect(try sensor.refusal { $0.kind = .cbg } != nil)
    // If a table has glucose and ketones, the given kind applies to glucose.
    let both = try ScratchFile("Time,Glucose (mg/dL),Ketone (mmol/L)\n2026-06-17 06:00,104,0.4\n")
    #expect(try both.readings { $0.kind = .scan }.readings.map(\.kind).contains(.scan))
  }
}
