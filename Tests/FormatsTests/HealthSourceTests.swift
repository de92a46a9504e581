// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import SeededRandom
import Testing

@testable import Formats

/// Tests which sources in Apple Health are sensors.
@Suite struct HealthSourceTests {
  private static let start = DeviceTime(text: "2026-05-30T08:00:00")?.seconds ?? 0
  /// Names of apps and devices. Any of them may be a sensor, so the names do not determine the kind.
  static let names = [
    "CareSens Air", "Simplera", "Accu-Chek SmartGuide", "Some app", "Anna’s iPhone", "Health",
  ]

  private static func time(_ minute: Int) -> String {
    DeviceTime(seconds: start + Int64(minute) * 60).text.replacing("T", with: " ") + " +0200"
  }

  private static func record(_ minute: Int, _ source: String, device: String = "", entry: String = "")
    -> String
  {
    let head =
      #"<Record type="HKQuantityTypeIdentifierBloodGlucose" sourceName="\#(source)"\#(device) unit="mg/dL" "#
      + #"startDate="\#(time(minute))" value="\#(90 + minute % 60)""#
    return entry.isEmpty ? head + "/>" : head + ">\(entry)</Record>"
  }

  private static func mark(_ value: Int) -> String {
    #"<MetadataEntry key="HKBloodGlucoseMealTime" value="\#(value)"/>"#
  }

  private static func export(_ records: some Sequence<String>) throws -> TextExport {
    try TextExport("<HealthData>\(records.joined())</HealthData>")
  }

  /// The minutes of finger sticks in two weeks. Sometimes two of them are a few minutes apart.
  private static let sticks = (0..<14).flatMap { day in
    [0, 245, day % 3 == 0 ? 248 : 400, 590].map { day * 1440 + $0 + day * 7 % 11 }
  }
  private static let every5 = (0..<60).map { $0 * 5 }

  private static func kinds(_ export: TextExport) -> [String: Set<String>] {
    export.readings.reduce(into: [:]) { kinds, reading in
      kinds[export.devices[Int(reading.device.number)].model, default: []].insert(reading.kind.name)
    }
  }

  @Test(arguments: names) func anAppleHealthSourceWithRegularValuesIsReadAsASensor(_ name: String) throws {
    let sensor = try Self.export(Self.every5.map { Self.record($0, name) })
    #expect(sensor.readings.count == 60 && Self.kinds(sensor).values.allSatisfy { $0 == ["cbg"] })
    #expect(sensor.decision("kind") == "cbg of sensors, smbg of meters (inferred)" && sensor.warnings.isEmpty)
    let meter = try Self.export(Self.sticks.map { Self.record($0, name) })
    #expect(meter.readings.count == 56 && Self.kinds(meter).values.allSatisfy { $0 == ["smbg"] })
    #expect(meter.warnings.isEmpty)
  }

  @Test(arguments: [1, 3, 5, 15]) func eachSensorIntervalInAppleHealthIsRecognised(_ minutes: Int) throws {
    let export = try Self.export((0..<30).map { Self.record($0 * minutes, "Simplera") })
    #expect(Self.kinds(export) == ["Simplera": ["cbg"]])
  }

  /// The kind does not depend on the order of records, on the other sources, or on where the export ends.
  @Test func theTimesOfAnAppleHealthSourceShowItsKind() throws {
    let records =
      Self.every5.map { Self.record($0, "Simplera") } + Self.sticks.map { Self.record($0, "Some app") }
      + Self.every5.map { Self.record($0 + 2, "Dexcom G7") }
    let expected: [String: Set<String>] = ["Simplera": ["cbg"], "Some app": ["smbg"], "Dexcom G7": ["cbg"]]
    var random = SeededGenerator(seed: 5)
    for order in [records, records.reversed(), records.shuffled(using: &random)] {
      #expect(Self.kinds(try Self.export(order)) == expected)
    }
    for count in [4, 5, 9, 17, 59] {
      #expect(Self.kinds(try Self.export(records.prefix(count))) == ["Simplera": ["cbg"]])
    }
  }

  @Test func anAppleHealthValueWithAMealMarkIsAFingerStick() throws {
    let marked = Self.sticks.map { Self.record($0 + 1, "Simplera", entry: Self.mark(1 + $0 % 2)) }
    let export = try Self.export(Self.every5.map { Self.record($0, "Simplera") } + marked)
    #expect(export.readings.count { $0.kind == .cbg } == 60)
    #expect(
      export.readings.filter { $0.kind == .smbg }.allSatisfy {
        !$0.marks.isDisjoint(with: [.beforeMeal, .afterMeal])
      })
    #expect(export.readings.count { $0.kind == .smbg } == 56)
    // An app may write a meal mark for each value of a sensor, so marks on all values do not show finger
    // sticks.
    let all = try Self.export(Self.every5.map { Self.record($0, "Simplera", entry: Self.mark(2)) })
    #expect(Self.kinds(all) == ["Simplera": ["cbg"]])
  }

  @Test func aTypedAppleHealthValueIsAFingerStick() throws {
    let entry = #"<MetadataEntry key="HKWasUserEntered" value="1"/>"#
    let typed = Self.every5.map { Self.record($0 + 1, "Simplera", entry: entry) }
    let export = try Self.export(Self.every5.map { Self.record($0, "Simplera") } + typed)
    #expect(export.readings.count { $0.kind == .smbg && $0.marks.contains(.manual) } == 60)
    #expect(export.readings.count { $0.kind == .cbg } == 60)
  }

  /// One app may collect the values of a meter and of a sensor.
  @Test func theKindOfReadingIsDetectedForEachDeviceOfAnAppleHealthApp() throws {
    func device(_ name: String, _ address: Int) -> String {
      " device=\"&lt;&lt;HKDevice: 0x28\(address)&gt;, name:\(name), manufacturer:Maker, model:\(name), software:1.\(address)&gt;\""
    }
    let sensor = Self.every5.map { Self.record($0, "Collector", device: device("Air", $0)) }
    let meter = Self.sticks.map { Self.record($0 + 1, "Collector", device: device("Strip", $0)) }
    let export = try Self.export(sensor + meter)
    #expect(
      export.readings.count { $0.kind == .cbg } == 60 && export.readings.count { $0.kind == .smbg } == 56)
  }

  @Test func fewValuesOfAnAppleHealthSourceAreFingerSticksWithAWarning() throws {
    for count in 1...3 {
      let few = try Self.export(Self.every5.prefix(count).map { Self.record($0, "Simplera") })
      #expect(Self.kinds(few) == ["Simplera": ["smbg"]])
      #expect(few.warnings.count == 1 && few.warnings.first?.contains("'Simplera'") == true)
    }
    let meter = try Self.export(Self.every5.prefix(2).map { Self.record($0, "Contour Next One") })
    #expect(Self.kinds(meter) == ["Contour Next One": ["smbg"]] && meter.warnings.isEmpty)
    let marked = try Self.export([Self.record(0, "Simplera", entry: Self.mark(1))])
    #expect(Self.kinds(marked) == ["Simplera": ["smbg"]] && marked.warnings.isEmpty)
  }

  @Test func aGivenKindOfAppleHealthReadingsIsUsed() throws {
    let text = "<HealthData>\(Self.every5.map { Self.record($0, "Simplera") }.joined())</HealthData>"
    let export = try TextExport(text) { $0.kind = .smbg }
    #expect(Self.kinds(export) == ["Simplera": ["smbg"]] && export.decision("kind") == "smbg (given)")
  }

  @Test(arguments: names) func kindsInHealthAutoExportAreDetectedAsInAppleHealth(_ name: String) throws {
    func json(_ minutes: [Int]) -> String {
      let points = minutes.map {
        #"{"date":"\#(Self.time($0))","qty":\#(90 + $0 % 60),"source":"\#(name)"}"#
      }
      return
        #"{"data":{"metrics":[{"name":"blood_glucose","units":"mg/dL","data":[\#(points.joined(separator: ","))]}]}}"#
    }
    for (minutes, kind) in [(Self.every5, "cbg"), (Self.sticks, "smbg")] {
      let export = try TextExport(json(minutes))
      #expect(export.readings.count == minutes.count)
      #expect(Self.kinds(export).values.allSatisfy { $0 == [kind] } && export.warnings.isEmpty)
      let xml = try Self.export(minutes.map { Self.record($0, name) })
      #expect(export.readingTexts == xml.readingTexts)
    }
    #expect(try TextExport(json([0, 5])).warnings.count == 1)
  }
}
