// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests columns that say what took the values: a source, a method, an origin.
@Suite struct GenericSourceTests {
  private static let start = DeviceTime(text: "2026-03-04T00:00:00")?.seconds ?? 0
  private static let sensor = (0..<300).map { $0 * 5 }
  private static let sticks = [431, 733, 1103]

  /// The rows of each word in order of time.
  private static func table(_ header: String, _ rows: [(minutes: [Int], end: String)]) -> String {
    let lines = rows.flatMap { part in
      part.minutes.map { minute in
        "\(DeviceTime(seconds: start + Int64(minute) * 60).text),\(90 + minute % 60),\(part.end)\n"
      }
    }
    return header + "\n" + lines.sorted().joined()
  }

  private static func counts(_ export: TextExport) -> [String: Int] {
    export.readings.reduce(into: [:]) { $0[$1.kind.name, default: 0] += 1 }
  }

  @Test(arguments: [
    ("source", "Dexcom G7", "Contour Next"), ("source", "Dexcom G7", "manual"), ("source", "cgm", "manual"),
    ("Quelle", "Sensor", "Messgerät"), ("Quelle", "Sensor", "Fingerstich"), ("Messart", "Sensor", "Blutig"),
    ("Fuente", "Sensor", "Glucómetro"), ("Fuente", "cgm", "manual"),
    ("origin", "com.dexcom.g7", "com.mysugr.android"),
    ("Specimen source", "INTERSTITIAL_FLUID", "CAPILLARY_BLOOD"), ("via", "Libre 2", "Accu-Chek Guide"),
  ])
  func aWordOrNameSaysWhatTookTheValues(_ header: String, _ ofSensor: String, _ ofMeter: String) throws {
    let isName = ofMeter == "com.mysugr.android"
    let sticks = isName ? [431, 733, 1103, 1404] : Self.sticks
    let rows = [(Self.sensor, ofSensor), (sticks, ofMeter)]
    let export = try TextExport(Self.table("time,glucose (mg/dL),\(header)", rows))
    #expect(Self.counts(export) == ["cbg": 300, "smbg": sticks.count] && export.rejections.isEmpty)
    #expect(export.skipped.isEmpty && export.warnings.isEmpty)
    // Few rows are enough, where a word says it.
    let isWord = !isName && ofMeter != "Contour Next" && ofMeter != "Accu-Chek Guide"
    let few = try TextExport(
      Self.table(
        "time,glucose (mg/dL),\(header)", [([0, 5, 250], ofSensor), (isWord ? [431] : [], ofMeter)]))
    #expect(Self.counts(few) == (isWord ? ["cbg": 3, "smbg": 1] : ["cbg": 3]))
  }

  @Test func severalColumnsDecideTogether() throws {
    let header = "time,glucose (mg/dL),Fuente,Dispositivo,Estado"
    let rows = [
      (Self.sensor, "cgm,Libre 2,ok"), (Self.sticks, "bluetooth,Accu-Chek Guide,ok"), ([902], "manual,,ok"),
    ]
    let export = try TextExport(Self.table(header, rows))
    #expect(Self.counts(export) == ["cbg": 300, "smbg": 4])
    let objects =
      #"[{"time":"2026-03-04T07:10:00Z","glucose":101,"source":"dexcom"},"#
      + #"{"time":"2026-03-04T07:40:00Z","glucose":101,"source":"manual"}]"#
    #expect(
      Self.counts(try TextExport(objects) { $0.unit = .milligramsPerDecilitre }) == ["cbg": 1, "smbg": 1])
  }

  @Test func aTypedValueIsMarked() throws {
    let rows = [(Self.sensor, "Dexcom G7"), (Self.sticks, "manual")]
    let export = try TextExport(Self.table("time,glucose (mg/dL),source", rows))
    #expect(export.readings.filter { $0.kind == .smbg }.map(\.marks) == [.manual, .manual, .manual])
    #expect(export.readings.filter { $0.kind == .cbg }.allSatisfy { $0.marks.isEmpty })
  }

  @Test func anUnknownWordNextToASensorIsAQuestion() throws {
    let rows = [(Self.sensor, "Dexcom G7"), (Self.sticks.dropLast(), "bluetooth")].map { (Array($0.0), $0.1) }
    let message = try #require(try ScratchFile(Self.table("time,glucose (mg/dL),source", rows)).refusal())
    #expect(
      message.contains("'bluetooth' in the column 'source'") && message.contains("--where"), "\(message)")
    let known = [(Self.sensor, "sensor"), (Self.sticks, "fingerstick"), ([902], "pen")]
    let late = try TextExport(Self.table("time,glucose (mg/dL),source", known.map { ($0.0, $0.1) }))
    #expect(late.readings.count + late.rejections.count == 304 && late.skipped.isEmpty)
  }

  /// Other texts do not show what took the values.
  @Test(arguments: ["Mode", "Meal", "Trigger"]) func otherColumnsLeaveTheKind(_ header: String) throws {
    let rows = [(Self.sensor, "auto"), (Self.sticks, "manual")]
    let words = header == "Mode" ? rows : [(Self.sensor, "lunch"), (Self.sticks, "snack bar")]
    let export = try TextExport(Self.table("time,glucose (mg/dL),\(header)", words))
    #expect(Self.counts(export) == ["cbg": 303])
  }
}
