// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests which kind the readings of each device get if one table has several devices.
@Suite struct GenericDeviceKindTests {
  private static let start = DeviceTime(text: "2026-05-01T00:00:00")?.seconds ?? 0
  /// The minutes at which a sensor has values in two days.
  private static let sensor = (0..<576).map { $0 * 5 }
  private static let sticks = [432, 700, 1003, 1300, 1899, 2171, 2414, 2702]

  private static func rows(_ minutes: some Sequence<Int>, _ device: String) -> [String] {
    minutes.map { "\(DeviceTime(seconds: start + Int64($0) * 60).text),\(90 + $0 % 60),\(device)\n" }
  }

  private static func table(_ rows: [String], header: String = "time,glucose (mg/dL),device") -> String {
    header + "\n" + rows.sorted().joined()
  }

  private static func kinds(_ export: TextExport) -> [String: Set<String>] {
    export.readings.reduce(into: [:]) { kinds, reading in
      let device = export.devices[Int(reading.device.number)]
      kinds[device.model + device.serial, default: []].insert(reading.kind.name)
    }
  }

  @Test(arguments: ["Contour Next", "BG-3", "Anna"]) func inATableWithASensorValuesOfAMeterAreFingerSticks(
    _ name: String
  )
    throws
  {
    let rows = Self.rows(Self.sensor, "Dexcom G6") + Self.rows(Self.sticks, name)
    let export = try TextExport(Self.table(rows))
    #expect(Self.kinds(export) == ["Dexcom G6": ["cbg"], name: ["smbg"]])
    #expect(export.readings.count == 584 && export.readings.count { $0.kind == .smbg } == 8)
    #expect(export.decision("kind") == "cbg of sensors, smbg of meters (inferred)")
    let reversed = "time,glucose (mg/dL),device\n" + rows.sorted().reversed().joined()
    #expect(Self.kinds(try TextExport(reversed)) == Self.kinds(export))
    // Serial numbers distinguish devices as well.
    let serials = try TextExport(Self.table(rows, header: "time,glucose (mg/dL),serial number"))
    #expect(serials.readings.count { $0.kind == .smbg } == 8)
  }

  @Test func fewValuesOfASensorInATableOfAMeterAreSensorValues() throws {
    let clocks = [420, 725, 1101, 1322]
    let month: [Int] = (0..<30).flatMap { day in clocks.map { day * 1440 + $0 + day % 7 } }
    let rows = Self.rows(month, "BG-3") + Self.rows((0..<40).map { $0 * 5 }, "S1")
    #expect(Self.kinds(try TextExport(Self.table(rows))) == ["BG-3": ["smbg"], "S1": ["cbg"]])
  }

  @Test func everyDeviceWithRegularValuesIsReadAsASensor() throws {
    let rows =
      Self.rows(Self.sensor.prefix(200), "A1") + Self.rows(Self.sensor[200..<574], "A2")
      + Self.rows(Self.sensor[574...], "A3")
    let export = try TextExport(Self.table(rows))
    #expect(
      Self.kinds(export).values.allSatisfy { $0 == ["cbg"] } && export.decision("kind") == "cbg (inferred)")
  }

  @Test func inATableWithASensorFewValuesOfAKnownMeterAreFingerSticks() throws {
    for name in ["Contour Next One", "OneTouch Verio", "ACCU-CHEK Guide"] {
      let rows = Self.rows(Self.sensor, "Dexcom G6") + Self.rows([433], name)
      #expect(Self.kinds(try TextExport(Self.table(rows)))[name] == ["smbg"])
    }
    // If another column shows that there is a sensor, the name of a meter still determines the kind.
    let lines = (Self.rows(Self.sensor, "Dexcom G6") + Self.rows([433], "Contour")).map {
      String($0.dropLast()) + ",Flat\n"
    }
    let trend = try TextExport(Self.table(lines, header: "time,glucose (mg/dL),device,trend"))
    #expect(Self.kinds(trend) == ["Dexcom G6": ["cbg"], "Contour": ["smbg"]])
  }

  /// The minutes at which a sensor has values in ten weeks: more rows than the first check of a table reads.
  private static let long = (0..<20_100).map { $0 * 5 }

  @Test(arguments: [false, true]) func aMeterThatComesAfterManyRowsHasFingerSticks(hasOtherSensor: Bool)
    throws
  {
    let end = Self.long.count * 5
    var rows = Self.rows(Self.long, "S1") + Self.rows(Self.sticks.map { end + $0 }, "BG-3")
    if hasOtherSensor { rows += Self.rows((0..<200).map { end + 1 + $0 * 5 }, "S2") }
    let export = try ScratchFile("time,glucose (mg/dL),device\n" + rows.joined()).readings()
    #expect(export.rejections.isEmpty && export.readings.count == rows.count)
    let sticks = export.readings.filter { $0.kind == .smbg }
    #expect(sticks.map(\.line).sorted() == (20_102..<20_110).map { Int64($0) })
  }

  @Test func aNewSerialNumberOfAKnownSensorIsReadAsASensorFromItsFirstRow() throws {
    let end = Self.long.count * 5
    let first = Self.rows(Self.long, "G7,A1")
    let next = Self.rows([end, end + 700, end + 1400], "G7,A2")
    let export = try ScratchFile("time,glucose (mg/dL),device,serial\n" + (first + next).joined()).readings()
    #expect(export.rejections.isEmpty && export.readings.allSatisfy { $0.kind == .cbg })
    #expect(export.readings.last?.line == 20_104)
  }

  @Test func fewValuesOfAnUnknownDeviceAfterManyRowsAreRejected() throws {
    let end = Self.long.count * 5
    let rows = Self.rows(Self.long, "S1") + Self.rows([end + 433, end + 1700], "BG-3")
    let export = try ScratchFile("time,glucose (mg/dL),device\n" + rows.joined()).readings()
    #expect(export.rejections.map(\.line) == [20_102, 20_103])
    #expect(export.rejections.allSatisfy { $0.reason.contains("nothing shows") })
    #expect(export.readings.count == 20_100)
  }

  @Test func aTableWithFewValuesOfAnUnknownDeviceRequiresTheKindOption() throws {
    for name in ["Accu-Chek SmartGuide", "Anna"] {
      let file = try ScratchFile(
        Self.table(Self.rows(Self.sensor, "Dexcom G6") + Self.rows([433, 1700], name)))
      let message = try #require(try file.refusal())
      #expect(message.contains("'\(name)' in the column 'device'"), "\(message)")
      #expect(message.contains("--kind smbg") && message.contains("--kind cbg"))
      #expect(try file.refusal { $0.kind = .cbg } == nil)
      let pick = RowFilter(column: "device", value: name)
      let picked = try file.readings { ($0.rows, $0.kind) = ([pick], .smbg) }
      #expect(picked.readings.map(\.kind) == [.smbg, .smbg])
    }
  }

  @Test func rowsWithoutADeviceHaveTheKindOfTheOtherRows() throws {
    let rows = Self.rows(Self.sensor, "Dexcom G6") + Self.rows([433], "")
    let export = try TextExport(Self.table(rows))
    #expect(export.readings.count == 577 && export.readings.allSatisfy { $0.kind == .cbg })
  }

  @Test func aKindThatIsGivenOrInTheHeaderAppliesToAllDevices() throws {
    let rows = Self.rows(Self.sensor, "Dexcom G6") + Self.rows(Self.sticks, "Contour Next")
    #expect(try TextExport(Self.table(rows)) { $0.kind = .cbg }.readings.allSatisfy { $0.kind == .cbg })
    let named = Self.table(rows, header: "time,sensor glucose (mg/dL),device")
    #expect(try TextExport(named).readings.allSatisfy { $0.kind == .cbg })
  }
}
