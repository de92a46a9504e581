// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Formats

/// Tests rules for times, units and columns that apply to the table of every app.
@Suite struct TableRuleTests {
  private typealias Moment = ExportTable.Moment
  private static let first = Moment(2026, 5, 17)
  private static let last = Moment(2026, 5, 19, 9, 5)
  private static let millimoles = GlucoseUnit.millimolesPerLitre

  /// The export of a table. A few rows of Diasend do not show the kind of readings, so it is given for them.
  private static func read(_ table: ExportTable, _ text: String) throws -> TextExport {
    try TextExport(text) { if table.format == "diasend" { $0.kind = .smbg } }
  }

  /// The sorted times and values of an export, in the same notation for every format.
  private static func points(_ export: TextExport) -> [String] {
    export.readings.map { reading in
      "\(reading.deviceTime.text) \(reading.measurement.quantity.map { plainNumber($0.number) } ?? "-")"
    }.sorted()
  }

  /// Time and value of each reading of a table that may be refused; nil if it is refused with a message.
  private static func pointsUnlessRefused(_ table: ExportTable, _ text: String) throws -> [String]? {
    do {
      let export = try read(table, text)
      return export.readings.isEmpty && !export.rejections.isEmpty ? nil : points(export)
    } catch let failure as Failure {
      #expect(failure.category == .badInput)
      return nil
    }
  }

  // MARK: - Units

  @Test(arguments: ExportTable.all, [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre])
  func aTableIsReadInItsStatedUnit(_ table: ExportTable, _ unit: GlucoseUnit) throws {
    let (low, high) = unit == Self.millimoles ? ("5.8", "14.2") : ("104", "256")
    let export = try Self.read(
      table, table.head(unit) + table.row(Self.first, low, unit) + table.row(Self.last, high, unit))
    #expect(export.decision("format") == "\(table.format) (inferred)")
    #expect(export.readings.map(\.measurement.unit) == [unit, unit] && export.rejections.isEmpty)
    #expect(Self.points(export) == ["2026-05-17T08:00:00 \(low)", "2026-05-19T09:05:00 \(high)"])
  }

  /// 256 is not valid in mmol/L, and 5.8 is not valid in mg/dL. A table with the wrong unit produces no
  /// reading.
  @Test(arguments: ExportTable.all, [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre])
  func tableValuesInTheOtherUnitAreNotRead(_ table: ExportTable, _ unit: GlucoseUnit) throws {
    let value = unit == Self.millimoles ? "256" : "5.8"
    let export = try Self.read(table, table.head(unit) + table.row(Self.first, value, unit))
    #expect(export.readings.isEmpty && export.rejections.map(\.line) == [table.linesAbove + 1])
  }

  /// `5,8` is read as 5.8 or rejected, but never read as 58, even among numbers with a decimal point.
  @Test(arguments: ExportTable.all, ["5,8", "5.8"])
  func aDecimalCommaInATableIsNeverLost(_ table: ExportTable, _ value: String) throws {
    for other in ["6,1", "6.1"] {
      let export = try Self.read(
        table,
        table.head(Self.millimoles) + table.row(Self.first, value, Self.millimoles)
          + table.row(Self.last, other, Self.millimoles))
      let taken = Set(export.readings.compactMap { $0.measurement.quantity?.number })
      #expect(taken.isSubset(of: [5.8, 6.1]), "\(other)")
      #expect(export.readings.count + export.rejections.count == 2, "\(other)")
      if value == "5.8", other == "6.1" { #expect(taken == [5.8, 6.1]) }
    }
  }

  /// These formats read decimal commas if all numbers of the table have them.
  @Test(
    arguments: ExportTable.all.filter {
      ["diasend", "contour", "mylife", "accu-chek-360"].contains($0.format)
    })
  func decimalCommasAreReadIfAllNumbersOfATableHaveThem(_ table: ExportTable) throws {
    let export = try Self.read(
      table,
      table.head(Self.millimoles) + table.row(Self.first, "5,8", Self.millimoles)
        + table.row(Self.last, "11,0", Self.millimoles))
    #expect(Self.points(export) == ["2026-05-17T08:00:00 5.8", "2026-05-19T09:05:00 11"])
    #expect(export.decision("decimal-mark") == "comma (inferred)" && export.rejections.isEmpty)
  }

  @Test(arguments: ExportTable.all.filter { $0.cells.contains("{unit}") }, ["%", "", "g/dL", "mg dL mmol"])
  func aTableRowWithoutAUnitIsRejected(_ table: ExportTable, _ unit: String) throws {
    let row = table.row(Self.last, "105").replacing("mg/dL", with: unit)
    let export = try Self.read(table, table.head() + table.row(Self.first, "104") + row)
    #expect(Self.points(export) == ["2026-05-17T08:00:00 104"])
    #expect(export.rejections.map(\.line) == [table.linesAbove + 2])
  }

  // MARK: - Times

  @Test(
    arguments: ExportTable.all,
    [
      Moment(2026, 2, 30), Moment(2025, 2, 29), Moment(2026, 4, 31), Moment(2026, 5, 32), Moment(2026, 5, 0),
      Moment(2026, 5, 18, 24, 0), Moment(2026, 5, 18, 25, 10), Moment(2026, 5, 18, 12, 60),
    ])
  func aTableRowWithAnInvalidTimeIsRejectedWithItsLine(_ table: ExportTable, _ moment: ExportTable.Moment)
    throws
  {
    let export = try Self.read(
      table,
      table.head() + table.row(Self.first, "104") + table.row(moment, "105") + table.row(Self.last, "106"))
    #expect(Self.points(export) == ["2026-05-17T08:00:00 104", "2026-05-19T09:05:00 106"])
    #expect(export.rejections.map(\.line) == [table.linesAbove + 2])
    #expect(export.rejections.allSatisfy { $0.reason.contains("invalid") && !$0.reason.contains("105") })
  }

  /// 29 February exists only in leap years.
  @Test(arguments: ExportTable.all) func theLastDayOfFebruaryIsReadInEveryTable(_ table: ExportTable) throws {
    let export = try Self.read(table, table.head() + table.row(Moment(2024, 2, 29, 23, 59), "104"))
    #expect(Self.points(export) == ["2024-02-29T23:59:00 104"] && export.rejections.isEmpty)
  }

  @Test(
    arguments: ExportTable.all,
    [Moment(2026, 5, 17, 0, 0), Moment(2026, 5, 17, 12, 0), Moment(2026, 5, 17, 23, 59)])
  func midnightAndNoonAreReadCorrectlyInEveryTable(_ table: ExportTable, _ moment: ExportTable.Moment) throws
  {
    let export = try Self.read(table, table.head() + table.row(moment, "104"))
    let time = "\(moment.hour < 10 ? "0" : "")\(moment.hour):\(moment.minute < 10 ? "0" : "")\(moment.minute)"
    #expect(Self.points(export) == ["2026-05-17T\(time):00 104"])
  }

  /// A wrong clock must not lose a value.
  @Test(arguments: ExportTable.all) func aReadingWithAFutureTimeIsMarkedAndKept(_ table: ExportTable) throws {
    let export = try Self.read(
      table, table.head() + table.row(Self.first, "104") + table.row(Moment(2040, 5, 17), "105"))
    #expect(export.readings.map { $0.marks.contains(.doubtfulTime) } == [false, true])
    #expect(Self.points(export).last == "2040-05-17T08:00:00 105" && export.rejections.isEmpty)
  }

  @Test(arguments: ExportTable.all) func aTimeSkippedByAClockChangeIsKeptAsShown(_ table: ExportTable) throws
  {
    let export = try Self.read(
      table, table.head() + table.row(Self.first, "104") + table.row(Moment(2026, 3, 29, 2, 30), "105"))
    #expect(Self.points(export).first == "2026-03-29T02:30:00 105")
    let expected =
      table.statesOffset
      ? Placement(utcOffset: 7200, source: .stated) : Placement(utcOffset: 3600, source: .zoneGap)
    #expect(export.readings.last?.placement == expected)
  }

  @Test(arguments: ExportTable.all) func aTimeOfARepeatedHourMeansItsFirstPass(_ table: ExportTable)
    throws
  {
    let export = try Self.read(
      table, table.head() + table.row(Self.first, "104") + table.row(Moment(2025, 10, 26, 2, 30), "105"))
    #expect(Self.points(export).first == "2025-10-26T02:30:00 105")
    #expect(export.readings.last?.placement.utcOffset == 7200)
    #expect(export.readings.last?.placement.source == (table.statesOffset ? .stated : .zoneOverlap))
  }

  // MARK: - Rows

  @Test(arguments: ExportTable.all) func theOrderOfTableRowsDoesNotChangeReadings(_ table: ExportTable) throws
  {
    let rows = (0..<9).map { table.row(Moment(2026, 5, 13 + $0 % 7, 7 + $0, $0), "\(100 + $0 * 7)") }
    let forth = try Self.read(table, table.head() + rows.joined())
    let back = try Self.read(table, table.head() + rows.reversed().joined())
    #expect(forth.readings.count == 9 && forth.readingTexts == back.readingTexts)
  }

  /// The identity of a reading does not depend on how often its row occurs.
  @Test(arguments: ExportTable.all) func aRepeatedTableRowProducesOneReading(_ table: ExportTable) throws {
    let rows = table.row(Self.first, "104") + table.row(Self.last, "106")
    let once = try Self.read(table, table.head() + rows)
    let twice = try Self.read(table, table.head() + rows + rows)
    #expect(once.readingTexts.count == 2 && twice.readingTexts == once.readingTexts)
    #expect(Set(twice.readings.map(\.occurrence)) == [0])
  }

  /// A file joined from two files has a second header in the middle.
  @Test(arguments: ExportTable.all) func aRepeatedTableHeaderIsNotReadAsARow(_ table: ExportTable) throws {
    let header = table.head().split(separator: "\n", omittingEmptySubsequences: false).dropLast().last ?? ""
    let export = try Self.read(
      table, table.head() + table.row(Self.first, "104") + "\(header)\n" + table.row(Self.last, "106"))
    #expect(Self.points(export) == ["2026-05-17T08:00:00 104", "2026-05-19T09:05:00 106"])
  }

  @Test(arguments: ExportTable.all) func aTableWithoutRowsIsAnEmptyExport(_ table: ExportTable) throws {
    let export = try Self.read(table, table.head())
    #expect(export.readings.isEmpty && export.records.isEmpty && export.rejections.isEmpty)
    #expect(export.decision("format") == "\(table.format) (inferred)" && !export.isTruncated)
  }

  // MARK: - Columns

  /// Formats that find their columns by name and report unknown ones.
  private static let readingByName = ["tandem", "accu-chek-mobile", "accu-chek-360", "diabetes-m"]

  /// If columns are moved, a format reads the same readings or refuses the table.
  @Test(arguments: ExportTable.all, UInt64(1)...5)
  func tableColumnsInAnotherOrderAreReadTheSameOrNotAtAll(_ table: ExportTable, _ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let order = Array(table.header.indices).shuffled(using: &generator)
    let points = try Self.pointsUnlessRefused(
      table,
      table.head(order: order) + table.row(Self.first, "104", order: order)
        + table.row(Self.last, "99", order: order))
    let expected = ["2026-05-17T08:00:00 104", "2026-05-19T09:05:00 99"]
    #expect(points == expected || (points == nil && !Self.readingByName.contains(table.format)), "\(order)")
  }

  /// A number in an additional column must not be read as glucose, and a word in it must not exclude a row.
  @Test(arguments: ExportTable.all, [("Mood", "fine"), ("Steps", "104"), ("", "")])
  func anAdditionalTableColumnDoesNotChangeReadings(
    _ table: ExportTable, _ column: (name: String, cell: String)
  )
    throws
  {
    for place in 1...table.header.count {
      let other = table.adding(column.name, column.cell, at: place)
      let points = try Self.pointsUnlessRefused(
        other, other.head() + other.row(Self.first, "98") + other.row(Self.last, "99"))
      let expected = ["2026-05-17T08:00:00 98", "2026-05-19T09:05:00 99"]
      #expect(points == expected || (points == nil && !Self.readingByName.contains(table.format)), "\(place)")
    }
  }

  @Test(
    arguments: ExportTable.all.filter { (readingByName + ["contour"]).contains($0.format) },
    ["Mood", "Steps"])
  func anUnknownTableColumnAtTheEndIsReportedOnce(_ table: ExportTable, _ name: String) throws {
    let other = table.adding(name, "7", at: table.header.count)
    let export = try Self.read(
      other, other.head() + other.row(Self.first, "104") + other.row(Self.last, "99"))
    #expect(export.warnings.filter { $0.contains("'\(name)'") }.count == 1, "\(export.warnings)")
    #expect(export.decision("format") == "\(table.format) (inferred)")
    let plain = try Self.read(table, table.head() + table.row(Self.first, "104") + table.row(Self.last, "99"))
    #expect(plain.warnings.isEmpty)
  }

  /// Without the column of glucose, the table is not recognised or its values are missing. No other column is
  /// read instead.
  @Test(arguments: ExportTable.all)
  func aTableWithoutTheColumnOfGlucoseProducesNoReading(_ table: ExportTable) throws {
    let place = try #require(table.cells.firstIndex(of: "{value}"))
    let order = table.header.indices.filter { $0 != place }
    let text = table.head(order: order) + table.row(Self.first, "104", order: order)
    do {
      #expect(try Self.read(table, text).readings.isEmpty)
    } catch let failure as Failure {
      #expect(failure.category == .badInput)
    }
  }
}
