// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests how an order of day and month that a person states is compared with the dates of the input.
@Suite struct GivenOrderTests {
  /// Samples with a number over 12 in a date, and the order of day and month in which this number is the day.
  private static let samples = [
    ("accu-chek-360/entries-mgdl.csv", "mdy"), ("carelink/before-2017-mmol-dmy.csv", "dmy"),
    ("cgm-entries/both-mgdl.csv", "mdy"), ("clarity/clarity-spreadsheet-dmy.csv", "dmy"),
    ("contour/contour-mgdl-pl.csv", "dmy"), ("diasend/insulin.csv", "dmy"),
    ("generic/split-date-de-windows1252.csv", "dmy"), ("generic/title-line-us-12h.csv", "mdy"),
    ("glooko/bg-en-mgdl-us.csv", "mdy"), ("glucose-buddy/log.csv", "mdy"),
    ("libreview/libreview-mgdl-en-us-12h.csv", "mdy"), ("libreview/libreview-mmol-semicolon.csv", "dmy"),
    ("mysugr/mysugr-mmol-da.csv", "dmy"), ("sibionics/sensor-mgdl-pt.csv", "dmy"),
  ]

  @Test(arguments: samples)
  func aGivenDateOrderThatADateContradictsRefusesTheInput(_ path: String, _ order: String) throws {
    let bytes = try TextExport.sample(path)
    let wrong = order == "dmy" ? "mdy" : "dmy"
    let failure = #expect(throws: Failure.self) { _ = try TextExport(bytes: bytes) { $0.dateOrder = wrong } }
    #expect(failure?.category == .badInput)
    #expect(failure?.message.contains("use --date-order \(order)") == true, "\(failure?.message ?? "")")
    let inferred = try TextExport(bytes: bytes)
    let given = try TextExport(bytes: bytes) { $0.dateOrder = order }
    #expect(given.readings.map(\.deviceTime) == inferred.readings.map(\.deviceTime))
    #expect(given.records.map(\.deviceTime) == inferred.records.map(\.deviceTime))
    #expect(given.decision("date-order")?.contains("(given)") == true)
  }

  /// Every date of these samples is possible in both orders.
  @Test(arguments: ["contour/contour-mmol-da-windows1252.csv", "libreview/libreview-mgdl-it.csv"])
  func aGivenDateOrderThatNoDateContradictsIsUsed(_ path: String) throws {
    let bytes = try TextExport.sample(path)
    let orders = try ["dmy", "mdy"].map { order in try TextExport(bytes: bytes) { $0.dateOrder = order } }
    #expect(orders[0].readings.count == orders[1].readings.count && orders[0].readings.count > 1)
    #expect(orders[0].readings.map(\.deviceTime) != orders[1].readings.map(\.deviceTime))
  }

  private static func table(_ dates: [String]) -> String {
    "time,glucose\n" + dates.enumerated().map { "\($1) 07:0\($0),10\($0)\n" }.joined()
  }

  @Test func theErrorForAWrongDateOrderNamesTheLineAndTheOtherOrder() {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(Self.table(["03/04/2026", "05/04/2026", "13/04/2026"])) { $0.dateOrder = "mdy" }
    }
    #expect(
      failure?.message.hasSuffix(
        "--date-order mdy makes 13 the month in line 4; use --date-order dmy, or --force to read only the dates that fit"
      )
        == true)
  }

  @Test func withForceOnlyDatesThatFitTheGivenOrderAreRead() throws {
    let export = try TextExport(Self.table(["03/04/2026", "05/04/2026", "13/04/2026"])) {
      ($0.dateOrder, $0.force) = ("mdy", true)
    }
    #expect(export.readings.map(\.deviceTime.text) == ["2026-03-04T07:00:00", "2026-05-04T07:01:00"])
    #expect(export.rejections.map(\.line) == [4])
  }

  @Test(arguments: ["dmy", "mdy"]) func datesThatNeedBothOrdersAreRefusedWithEitherOrder(_ order: String) {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(Self.table(["13/04/2026", "04/14/2026"])) { $0.dateOrder = order }
    }
    #expect(failure?.message.contains("Export it again") == true)
  }

  @Test func aDateThatDoesNotExistShowsNothingAboutTheOrder() throws {
    let export = try TextExport(Self.table(["03/04/2026", "45/31/2026", "31/02/2026"])) {
      $0.dateOrder = "dmy"
    }
    #expect(export.readings.map(\.deviceTime.text) == ["2026-04-03T07:00:00"])
    #expect(export.rejections.map(\.line) == [3, 4])
  }

  @Test func datesWithTheDayBetweenYearAndMonthAreRefused() throws {
    let text = Self.table(["2026-03-04", "2026-05-04", "2026-13-04"])
    let failure = #expect(throws: Failure.self) { _ = try TextExport(text) }
    #expect(failure?.message.contains("the day before the month (line 4)") == true)
    #expect(try TextExport(text) { $0.force = true }.readings.count == 2)
    // In 2026-13-14 neither number is a month, so the date shows no order and only its row is rejected.
    let export = try TextExport(Self.table(["2026-03-04", "2026-05-04", "2026-13-14"]))
    #expect(export.readings.count == 2 && export.rejections.map(\.line) == [4])
  }
}
