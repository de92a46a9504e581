// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests tables that have every quantity in a column `value`, with a column of units. The app Simple Health
/// Export writes the data of Apple Health in this form.
@Suite struct GenericOtherUnitTests {
  private static let map = ["time": "startDate", "value": "value"]

  private func table(_ rows: [(type: String, unit: String, value: String)], reason: String = "") -> String {
    let lines = rows.enumerated().map { place, row in
      "\(row.type),2026-03-\(10 + place / 24) \(place % 24):07:11 +0000,"
        + "2026-03-\(10 + place / 24) \(place % 24):07:11 +0000,\(row.unit),\(row.value)"
        + (reason.isEmpty ? "\n" : ",\(1 + place % 2)\n")
    }
    return "type,startDate,endDate,unit,value\(reason.isEmpty ? "" : "," + reason)\n" + lines.joined()
  }

  private static let quantities = [
    ("InsulinDelivery", "IU", ["3.1", "4.2", "18"]), ("DietarySugar", "g", ["7.3", "15.1", "16.7"]),
    ("RespiratoryRate", "count/min", ["15.0", "12.6", "17.5"]), ("Medicine", "Tabl.", ["100", "250", "100"]),
  ]

  @Test(arguments: quantities)
  func aMappedColumnOfValuesWithoutAUnitOfGlucoseIsRefused(
    _ type: String, _ unit: String, _ values: [String]
  ) throws {
    let text = table(values.map { ("HKQuantityTypeIdentifier\(type)", unit, $0) })
    let file = try ScratchFile(text)
    let refusal = try #require(try file.refusal { $0.columns = Self.map })
    #expect(refusal.contains("has no unit of glucose, but '\(unit)'"), "\(refusal)")
    #expect(!refusal.contains("glucoport import"), "\(refusal)")
    let forced = try TextExport(text) { ($0.columns, $0.force, $0.kind) = (Self.map, true, .smbg) }
    #expect(forced.readings.count == 3)
  }

  @Test func valuesInAUnitOfGlucoseAreReadAfterManyOthers() throws {
    let doses = Array(repeating: ("Quantity", "IU", "4"), count: 60)
    let sticks = [("Quantity", "mg/dL", "121"), ("Quantity", "mmol/L", "5.6")]
    let export = try TextExport(table(doses + sticks)) { $0.columns = Self.map }
    #expect(export.readings.map(\.measurement.quantity?.number) == [121, 5.6])
    #expect(export.skipped == ["value in iu": 60])
    let stated = try TextExport(table(doses)) { $0.columns = Self.map.merging(["unit": "unit"]) { $1 } }
    #expect(stated.readings.isEmpty && stated.skipped == ["value in iu": 60])
  }

  @Test(arguments: ["HKInsulinDeliveryReason", ""])
  func noCommandReadsDosesAsGlucose(_ reason: String) throws {
    let doses = table(["3.1", "4.2", "18"].map { ("InsulinDelivery", "IU", $0) }, reason: reason)
    let refusal = try #require(try ScratchFile(doses).refusal())
    #expect(refusal.contains("several columns hold times") && !refusal.contains("--map"), "\(refusal)")
    let sticks = table(["121", "99", "130"].map { ("BloodGlucose", "mg/dL", $0) }, reason: reason)
    let advice = try #require(try ScratchFile(sticks).refusal())
    #expect(advice.contains("--map time=startDate,value=value"), "\(advice)")
  }

  /// In these tables the unit belongs to another column, or the person who wrote it meant glucose.
  @Test(arguments: [
    "startDate,value,insulin,unit\n2026-05-01 07:00,101,4,U\n2026-05-01 12:00,140,6,U\n",
    "startDate,value,carbs,unit\n2026-05-01 07:00,101,40,g\n2026-05-01 12:00,140,60,g\n",
    "startDate,value,Units\n2026-05-01 07:00,101,4\n2026-05-01 12:00,140,6\n",
    "startDate,value,unit\n2026-05-01 07:00,101,mg\n2026-05-01 12:00,140,mg\n",
  ])
  func valuesNextToAnUnrelatedUnitAreRead(_ text: String) throws {
    #expect(try TextExport(text) { $0.columns = Self.map }.readings.count == 2)
  }
}
