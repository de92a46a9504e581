// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Testing

/// Tests inputs whose last line has no line end.
@Suite struct CutLineTests {
  private static let rows = "time,glucose (mg/dL),note\n2026-03-01T09:00:00,99,\n2026-03-01T09:05:00,98,\n"

  @Test(arguments: [
    "2026-03-01T09:1,97,", "2026-03-01T09:10:00,nonsense,", "2026-03-01T09:10:00,9,",
    "2026-03-01T09:10:00,19",
    "2026-03-01T09:10:0",
  ])
  func anInvalidLastLineWithoutALineEndIsReportedAsTruncated(_ line: String) throws {
    let cut = try TextExport(Self.rows + line)
    #expect(cut.readings.count == 2)
    #expect(cut.rejections.isEmpty)
    guard case .unterminated(line: 4, _) = cut.end else {
      Issue.record("\(cut.end)")
      return
    }
  }

  @Test(arguments: ["2026-03-01T09:1,97,\n", "2026-03-01T09:10:00,nonsense,\n"])
  func anInvalidLastLineWithALineEndIsReportedAsRejected(_ line: String) throws {
    let whole = try TextExport(Self.rows + line)
    #expect(whole.readings.count == 2)
    #expect(whole.rejections.count == 1)
    #expect(whole.end == .whole)
  }

  @Test func aTruncatedLastLineAddsNoItem() throws {
    let text = "time,glucose,carbs,note\n2026-03-01T09:00:00,99,10,\n2027-03-01T09:05:00,98,1x,y"
    let cut = try TextExport(text) { options in
      options.columns = ["time": "time", "value": "glucose", "carbs": "carbs"]
      options.unit = .milligramsPerDecilitre
    }
    #expect(cut.readings.count == 1)
    #expect(cut.records.count == 1)
    #expect(cut.end != .whole)
  }

  @Test(arguments: [("AB1", true), ("\"AB1\"", false)]) func aSingleLineThatEndsInASerialNumberMayBeTruncated(
    _ serial: String, isCut: Bool
  ) throws {
    let header = "time,glucose (mg/dL),serial\n"
    let lone = try TextExport(header + "2026-03-01T09:00:00,99,\(serial)")
    #expect(lone.readings.count == (isCut ? 0 : 1))
    #expect((lone.end != .whole) == isCut)
    #expect(try TextExport(header + "2026-03-01T09:00:00,99,\(serial)\n").readings.count == 1)
  }
}
