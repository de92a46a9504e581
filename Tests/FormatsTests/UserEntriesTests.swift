// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests the log of user entries of AAPS. Its glucose values are refused, because many are targets and not
/// measurements.
@Suite struct UserEntriesTests {
  private static func log(_ unit: String, _ action: String = "Aktion") -> String {
    """
    "Zeitstempel";"Datum";"UTC-Abweichung";"\(action)";"Ereignis";"Quelle";"Notiz";"Text";"Zeit";"\(unit)";"g";"IE";"IE/h";"%";"h";"min";""
    1767250804585;2026-01-01 08:00:04;+01:00;"TT";"";TTDialog;;;;100;;;;;;60;
    1767251104585;2026-01-01 08:05:04;+01:00;"CAREPORTAL";"Finger";BgCheck;;;;142;;;;;;;

    """
  }

  @Test(arguments: ["mg/dl", "mmol/l"]) func theAAPSLogOfUserEntriesIsRefusedInEitherUnit(_ unit: String)
    throws
  {
    let refusal = try ScratchFile(Self.log(unit)).refusal()
    #expect(refusal?.contains("log of user entries of AAPS") == true)
    #expect(try ScratchFile(Self.log("Wert")).refusal()?.contains("AAPS") != true)
  }

  @Test func aMappingCanStillReadTheAAPSLogOfUserEntries() throws {
    let (readings, _, _) = try ScratchFile(Self.log("mg/dl")).readings {
      $0.columns = ["time": "Zeitstempel", "value": "mg/dl"]
      $0.rows = [RowFilter(column: "Aktion", value: "CAREPORTAL")]
      $0.kind = .smbg
    }
    #expect(readings.map(\.measurement.quantity?.number) == [142])
  }

  /// A bolus that a person removed has a second row, with the same amount. Without chosen rows, targets are
  /// among the glucose values.
  @Test func aMappingReadsNeitherDosesNorTargetsOfTheAAPSLog() throws {
    let log =
      Self.log("mg/dl") + """
        1767251204585;2026-01-01 08:06:44;+01:00;"BOLUS REMOVED";"";Treatments;;;;;;2.5;;;;;

        """
    let file = try ScratchFile(log)
    for map in [["value": "mg/dl"], ["insulin": "IE"], ["carbs": "g"]] {
      let refusal = try file.refusal { $0.columns = map.merging(["time": "Zeitstempel"]) { $1 } }
      #expect(refusal?.contains("boluses that were removed") == true, "\(map)")
    }
    let forced = try file.lines {
      ($0.columns, $0.force) = (["time": "Zeitstempel", "insulin": "IE"], true)
    }
    #expect(forced.count { $0.contains("\"units\"") } == 1)
  }

  /// A table with words such as `bloodsugar` is recognised as Diaguard only if it begins with a time.
  @Test func onlyRowsAfterATimeAreRecognisedAsDiaguard() throws {
    let rows = "\"bloodsugar\";\"110\"\n\"insulin\";\"4.0\"\n"
    #expect(
      try ScratchFile("\"11.11.2022 11:11\";\n" + rows).refusal()?.contains("make a backup in the app")
        == true)
    #expect(try ScratchFile("\"name\";\"x\"\n" + rows).refusal()?.contains("Diaguard") != true)
  }
}
