// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests tables with rows that have more cells than their header.
@Suite struct LongRowTests {
  private static let header = "_id,created_at,eventType,enteredBy,notes,insulin,carbs,utcOffset\n"

  private static func meal(_ day: Int, _ notes: String, _ units: String, _ carbs: String, end: String = "\n")
    -> String
  {
    "00000000000000000000000\(day),2026-06-0\(day)T12:00:00.000Z,Meal Bolus,xdrip,\(notes),\(units),\(carbs),0\(end)"
  }

  /// The amounts of the doses and the meals of an export.
  private static func amounts(_ export: TextExport) -> [FieldValue] {
    export.records.compactMap { $0.fields["units"] } + export.records.compactMap { $0.fields["carbs"] }
  }

  /// Programs write such tables with notes in apostrophes.
  @Test(arguments: ["'lunch, 30, 12, soup'", "'rice, 30 beans'", "half, of"])
  func commasInNightscoutNotesNeverMoveTheAmounts(_ notes: String) throws {
    let export = try TextExport(
      Self.header + Self.meal(1, "", "4.5", "41") + Self.meal(2, notes, "6.5", "45")
        + Self.meal(3, "soup", "7.5", "47"))
    #expect(Self.amounts(export) == [.number(4.5), .number(7.5), .number(41), .number(47)])
    #expect(export.rejections.map(\.line) == [3])
    #expect(export.rejections.map(\.reason) == [Row.tooManyCells])
  }

  /// Some programs end each row with a delimiter that their header does not have.
  @Test(arguments: [",", ",,,", ", ,"])
  func rowsWithAdditionalEmptyCellsAtTheirEndsAreRead(_ end: String) throws {
    let export = try TextExport(
      Self.header + Self.meal(1, "", "4.5", "41", end: end + "\n")
        + Self.meal(2, "", "6.5", "45", end: end + "\n"))
    #expect(Self.amounts(export) == [.number(4.5), .number(6.5), .number(41), .number(45)])
    #expect(export.rejections.isEmpty)
  }

  /// The last cell of a row may be empty. Then only the number of cells shows that a text was split.
  @Test(arguments: ["lunch, 30", "a, b, c"])
  func aSplitRowWhoseLastCellsAreEmptyIsRejected(_ notes: String) throws {
    let header = Self.header.replacing("utcOffset\n", with: "utcOffset,pumpId,reason\n")
    let whole = [
      Self.meal(1, "soup", "4.5", "41", end: ",,\n"), Self.meal(3, "", "7.5", "47", end: ",,\n"),
    ]
    for place in 0...2 {
      var rows = whole
      rows.insert(Self.meal(2, notes, "6.5", "45", end: ",,\n"), at: place)
      let export = try TextExport(header + rows.joined())
      #expect(Self.amounts(export) == [.number(4.5), .number(7.5), .number(41), .number(47)], "\(place)")
      #expect(export.rejections.map(\.line) == [Int64(place) + 2])
    }
  }

  /// The last line is compared with the rows before it, except those that were rejected.
  @Test func aLongRowDoesNotMakeTheLastLineLookTruncated() throws {
    let (first, last) = (Self.meal(1, "a", "4.5", "41"), Self.meal(3, "c", "7.5", "47", end: ""))
    let export = try TextExport(Self.header + first + Self.meal(2, "b, 3", "6.5", "45") + last)
    let whole = try TextExport(Self.header + first + last)
    #expect(export.recordTexts == whole.recordTexts && export.isTruncated == whole.isTruncated)
    #expect(export.rejections.map(\.reason) == [Row.tooManyCells])
  }

  @Test func theTableOfAPIv1HasFiveCellsInEachRow() throws {
    func row(_ minute: Int, _ value: String) -> String {
      "\"2026-05-06T12:0\(minute):00.000Z\",\(1_778_068_800_000 + minute * 60_000),\(value),\"Flat\",\"share2\"\n"
    }
    let export = try TextExport(row(0, "128") + row(5, "77,125") + row(8, "122"))
    #expect(export.readings.compactMap { $0.measurement.quantity?.number } == [128, 122])
    #expect(export.rejections.map(\.line) == [2])
  }

  /// A text with the delimiter splits a row, whichever delimiter the table has.
  @Test(arguments: [";", "\t", "|", ","])
  func aTextWithTheDelimiterSplitsARowOfAGenericTable(_ mark: String) throws {
    let lines = [
      ["time", "glucose (mg/dL)", "note"], ["2026-05-01 07:00", "101", ""],
      ["2026-05-01 07:05", "102", "a", "b"], ["2026-05-01 07:10", "103", "c"],
    ]
    let export = try TextExport(lines.map { $0.joined(separator: mark) + "\n" }.joined())
    #expect(export.readings.compactMap { $0.measurement.quantity?.number } == [101, 103])
    #expect(export.rejections.map(\.reason) == [Row.tooManyCells])
  }

  /// The header of a later table is not compared with the one above it.
  @Test func aLaterHeaderMayHaveMoreCells() throws {
    let export = try TextExport(
      "sgv,date,device\n120,1778068800000,a\ndevice,date,sgv,type\na,1778069100000,121,sgv\n")
    #expect(export.readings.count == 2 && export.rejections.isEmpty)
  }

  @Test func aLongRowKeepsTheReasonOfItsFormat() throws {
    let row = "00000000000000000000000a,someday,Meal Bolus,xdrip,a,b,6.5,45,0\n"
    let export = try TextExport(Self.header + Self.meal(1, "", "4.5", "41") + row)
    #expect(export.rejections.map(\.line) == [3] && export.records.count == 2)
    #expect(export.rejections.allSatisfy { $0.reason != Row.tooManyCells })
  }
}
