// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests which columns are read as blood ketones in mmol/L. Ketones in urine or breath, and values in mg/dL,
/// are not read.
@Suite struct GenericKetoneTests {
  private static func table(_ name: String, _ cells: [String] = ["0.4", "1.2", "0.6", "3.1"]) -> String {
    let rows = cells.enumerated().map { row, cell in "2026-05-0\(row + 1) 07:10,\(101 + row * 7),\(cell)\n" }
    return "time,glucose (mg/dL),\"\(name)\"\n" + rows.joined()
  }

  @Test(arguments: [
    "Ketones", "ketone", "Ketones (mmol/L)", "Blood ketones", "bloodKetone", "Ketone level",
    "Ketone value mmol/l",
    "Blutketone", "Ketonkörper", "Keton (mmol/L)", "Cétones", "Corps cétoniques", "Cetonas en sangre",
    "Chetoni", "Ketonen",
    "Beta-ketone", "Ketone bodies (blood)", "ketones_mmol_l", "Ketonwert", "B-ketoner", "Ketony ve krvi",
    "BHB", "BHB (mmol/L)", "Beta-hydroxybutyrate (mmol/L)", "β-Hydroxybutyrat", "blood_bhb", "D-BHB",
  ])
  func aColumnNamedForBloodKetonesIsRead(_ name: String) throws {
    let export = try TextExport(Self.table(name))
    let ketones = export.readings.filter { $0.kind == .ketone }
    #expect(ketones.compactMap { $0.measurement.quantity?.number } == [0.4, 1.2, 0.6, 3.1])
    #expect(ketones.allSatisfy { $0.measurement.quantity?.unit == .millimolesPerLitre })
  }

  @Test(arguments: [
    "Urine ketones", "Ketones (urine)", "Ketone Urin", "Ketonkörper im Urin", "Aceton", "Aceton im Urin",
    "Cétonurie",
    "Cetonas en orina", "Ketonuria", "Ketone (+)", "Ketones (0=neg 1=trace 2=small)", "Ketone level (0-4)",
    "Ketones (mg/dL)", "Keton mg/dl", "Breath ketones (ppm)", "Breath ketones", "Acetone (ppm)",
    "Ketones (ppm)",
    "Ketone strips left", "Ketones target", "Ketones tested", "Ketone unit", "Glucose ketone index",
    "BHB (mg/dL)", "BHB salts (g)", "BHB target",
  ])
  func aColumnNamedForOtherKetonesIsNotRead(_ name: String) throws {
    for cells in [["0.4", "1.2", "0.6", "3.1"], ["1", "2", "3", "1"]] {
      let export = try TextExport(Self.table(name, cells))
      #expect(export.readings.map(\.kind) == [.smbg, .smbg, .smbg, .smbg], "\(cells)")
      #expect(export.warnings.contains { $0.contains("not read") && $0.contains(name) }, "\(export.warnings)")
    }
  }

  @Test func wholeNumbersOfKetonesWithoutAUnitAreRefusedUntilMapped() throws {
    let file = try ScratchFile(Self.table("Ketones", ["0", "1", "", "3"]))
    let message = try #require(try file.refusal())
    #expect(message.contains("urine strip") && message.contains("ketone=Ketones"), "\(message)")
    var map = ["time": "time", "value": "glucose (mg/dL)"]
    #expect(try file.readings { $0.columns = map }.readings.allSatisfy { $0.kind == .smbg })
    map["ketone"] = "Ketones"
    #expect(try file.readings { $0.columns = map }.readings.count { $0.kind == .ketone } == 3)
    // A unit or a value with a decimal shows that the ketones are of blood. Zeros only mean that nothing was
    // measured.
    for (name, cells) in [
      ("Ketones (mmol/L)", ["1", "2"]), ("Ketones", ["1", "2.0"]), ("Ketones", ["0", "0"]),
    ] {
      #expect(try ScratchFile(Self.table(name, cells)).refusal() == nil, "\(name) \(cells)")
    }
  }

  @Test(arguments: [
    ("Ketones (mg/dL)", "in mg/dL"), ("Urine ketones", "not of blood"), ("Ketones (ppm)", "not of blood"),
  ])
  func aMappedColumnOfOtherKetonesIsRefused(_ name: String, _ reason: String) throws {
    let file = try ScratchFile(Self.table(name))
    let map = ["time": "time", "value": "glucose (mg/dL)", "ketone": name]
    #expect(try file.refusal { $0.columns = map }?.contains(reason) == true)
    #expect(
      try file.readings { ($0.columns, $0.force) = (map, true) }.readings.count { $0.kind == .ketone } == 4)
  }
}
