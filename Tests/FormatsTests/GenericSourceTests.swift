// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests columns that state what measured the values: a source, a method or an origin.
@Suite struct GenericSourceTests {
  private static let start = DeviceTime(text: "2026-03-04T00:00:00")?.seconds ?? 0
  private static let sensor = (0..<300).map { $0 * 5 }
  private static let sticks = [431, 733, 1103]

  /// A table in order of time. For each element of `rows`, it has a line at each of the minutes in the
  /// element. The line ends with the text `end` of the element.
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
    ("source", "Capteur", "Doigt"), ("Méthode", "Capteur", "Glucomètre"), ("Device", "FSL2", "Meter"),
  ])
  func aWordOrDeviceNameInARowDeterminesItsKind(_ header: String, _ ofSensor: String, _ ofMeter: String)
    throws
  {
    let isName = ofMeter == "com.mysugr.android"
    let sticks = isName ? [431, 733, 1103, 1404] : Self.sticks
    let rows = [(Self.sensor, ofSensor), (sticks, ofMeter)]
    let export = try TextExport(Self.table("time,glucose (mg/dL),\(header)", rows))
    #expect(Self.counts(export) == ["cbg": 300, "smbg": sticks.count] && export.rejections.isEmpty)
    #expect(export.skipped.isEmpty && export.warnings.isEmpty)
    // If a word states the kind, few rows are enough.
    let isWord = !isName && ofMeter != "Contour Next" && ofMeter != "Accu-Chek Guide"
    let few = try TextExport(
      Self.table(
        "time,glucose (mg/dL),\(header)", [([0, 5, 250], ofSensor), (isWord ? [431] : [], ofMeter)]))
    #expect(Self.counts(few) == (isWord ? ["cbg": 3, "smbg": 1] : ["cbg": 3]))
  }

  @Test func severalColumnsOfSourcesDecideTheKindTogether() throws {
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

  @Test func aValueWithTheSourceManualIsMarkedAsTyped() throws {
    let rows = [(Self.sensor, "Dexcom G7"), (Self.sticks, "manual")]
    let export = try TextExport(Self.table("time,glucose (mg/dL),source", rows))
    #expect(export.readings.filter { $0.kind == .smbg }.map(\.marks) == [.manual, .manual, .manual])
    #expect(export.readings.filter { $0.kind == .cbg }.allSatisfy { $0.marks.isEmpty })
  }

  @Test func anUnknownSourceNextToASensorRefusesTheTable() throws {
    let rows = [(Self.sensor, "Dexcom G7"), (Self.sticks.dropLast(), "bluetooth")].map { (Array($0.0), $0.1) }
    let message = try #require(try ScratchFile(Self.table("time,glucose (mg/dL),source", rows)).refusal())
    #expect(
      message.contains("'bluetooth' in the column 'source'") && message.contains("--where"), "\(message)")
    let known = [(Self.sensor, "sensor"), (Self.sticks, "fingerstick"), ([902], "pen")]
    let late = try TextExport(Self.table("time,glucose (mg/dL),source", known.map { ($0.0, $0.1) }))
    #expect(late.readings.count + late.rejections.count == 304 && late.skipped.isEmpty)
  }

  /// Words in these columns do not show what measured the values.
  @Test(arguments: ["Mode", "Meal", "Trigger"]) func columnsThatNameNoSourceDoNotDecideTheKind(
    _ header: String
  ) throws {
    let rows = [(Self.sensor, "auto"), (Self.sticks, "manual")]
    let words = header == "Mode" ? rows : [(Self.sensor, "lunch"), (Self.sticks, "snack bar")]
    let export = try TextExport(Self.table("time,glucose (mg/dL),\(header)", words))
    #expect(Self.counts(export) == ["cbg": 303])
  }

  @Test func aWordForAScanInAColumnOfMethodsIsReadAsAScan() throws {
    let rows = [([0, 400, 700, 1103], "Scan"), (Self.sticks, "Prick")]
    let export = try TextExport(Self.table("time,glucose (mg/dL),Method", rows))
    #expect(Self.counts(export) == ["scan": 4, "smbg": Self.sticks.count])
  }

  // MARK: Columns with other names

  /// In these columns a word for a sensor may be a person's reason to measure, and a `Guardian` may be a
  /// parent.
  @Test(arguments: [
    ("Entered by", ["Guardian", "School nurse", "Self"]), ("Measured by", ["Guardian", "Self"]),
    ("Reason", ["CGM alarm", "Routine"]), ("Context", ["CGM low", "Before meal"]),
    ("Checked against", ["Libre", "Dexcom", ""]), ("Why", ["continuous nausea", "routine"]),
    ("Activity", ["loop run", "rest"]), ("Anlass", ["Sensorwechsel", ""]),
    ("Tag", ["Spike", "Normal"]),
    ("Pump mode", ["Closed loop", "Open loop"]), ("Pump", ["MiniMed", "Medtronic"]),
    ("Label", ["CGM check", "Breakfast"]),
  ])
  func aWordForASensorDecidesTheKindOnlyInAColumnOfSources(_ header: String, _ words: [String]) throws {
    let sticks = (0..<12).flatMap { day in [431, 733, 1103, 1304].map { day * 1440 + $0 + day * 7 % 45 } }
    let rows = words.indices.map { word in
      // The words alternate, as names of persons do.
      (
        sticks.indices.filter { ($0 % 7 < 2 ? 0 : 1 + $0 % (words.count - 1)) == word }.map { sticks[$0] },
        words[word]
      )
    }
    let export = try TextExport(Self.table("time,glucose (mg/dL),\(header)", rows))
    #expect(Self.counts(export) == ["smbg": 48] && export.rejections.isEmpty)
    // In a column named `source`, the name of a sensor does decide the kind.
    let source = try TextExport(
      Self.table(
        "time,glucose (mg/dL),source",
        [(sticks.dropLast(), "Dexcom"), (sticks.suffix(1), "")].map { (Array($0.0), $0.1) }))
    #expect(Self.counts(source)["cbg"] ?? 0 >= 47)
  }

  @Test func aRemarkDoesNotChangeTheKindOfASensorRow() throws {
    let times = (1..<6000).map { $0 * 5 }
    // `Lunch` is only in later rows. The first rows have no other word than the one for a sensor's start.
    let meals = [20_001, 20_333, 21_404, 21_777, 23_008, 24_440].map { $0 / 5 * 5 }
    let rows = [(times.filter { !meals.contains($0) }, ""), (meals, "Lunch")]
    for start in ["Sensor start", "Sensor"] {
      let export = try TextExport(Self.table("time,glucose (mg/dL),Context", rows + [([0], start)]))
      #expect(Self.counts(export)["smbg"] == nil && Self.counts(export)["cbg"] ?? 0 >= 5994, "\(start)")
    }
  }
}
