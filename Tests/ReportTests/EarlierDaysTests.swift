// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests the line that compares a period with the days before it, and the headings of the table of days.
struct EarlierDaysTests {
  private static let languages = PageTexts.all.map(\.code)

  private func page(_ report: SampleReport, _ earlier: SampleReport?, _ code: String = "en") throws
    -> ReportPage
  {
    var contents = report.contents
    contents.earlier = earlier.map { ($0.contents.result.total, ("2026-02-16", "2026-03-01")) }
    return ReportPage(contents, try #require(PageTexts.all.first { $0.code == code }))
  }

  private func line(_ page: ReportPage) -> String? {
    page.earlierBox.map { DrawingCheck.words($0).joined(separator: " ").replacing("\u{A0}", with: " ") }
  }

  @Test func theReportComparesWithTheFiguresOfThePreviousPeriod() throws {
    let sensor = SampleReport.of(.sensor)
    // A sum is calculated from exact shares: the rounded 26.5 and 2.5 in the list of ranges would give 29.0.
    #expect(
      try line(page(sensor, sensor))
        == "Previous 14 days (2026-02-16 – 2026-03-01): target 62.3 % · low + very low 8.7 % · high + very high 28.9 % · Mean 148 mg/dL · GMI 6.9 % · Variation (CV) 36.2 %"
    )
    #expect(try line(page(sensor, nil)) == nil && line(page(sensor, SampleReport())) == nil)
    let words = try page(sensor, sensor).sheets(.summary, .a4).flatMap(\.boxes).flatMap {
      DrawingCheck.words($0.drawing)
    }
    #expect(words.contains { $0.hasPrefix("Previous 14 days") })
  }

  @Test func thePreviousPeriodOfAMeterIsComparedByReadingsNotByTime() throws {
    var sticks = SampleReport(days: 7)
    sticks.readings = [60, 100, 200, 120].enumerated().map {
      Reading.finger($1, at: SampleReport.start + Int64($0) * 3600)
    }
    #expect(
      try line(page(.of(.meter), sticks))
        == "Previous 7 days (2026-02-16 – 2026-03-01): Readings 4 · target 50.0 % · Mean 120 mg/dL")
    // Percentages of time are not compared with percentages of readings. So a sensor's report has no line
    // about a period with only a meter.
    #expect(try line(page(.of(.sensor), sticks)) == nil)
  }

  @Test func aPreviousPeriodWithTooFewDataStatesTheReason() throws {
    let text = try #require(try line(page(.of(.sensor), .of(.little))))
    #expect(text.contains("Too few data: ") && !text.contains("Mean"), "\(text)")
  }

  @Test(arguments: languages) func thePreviousPeriodLineFitsInEachLanguage(_ code: String) throws {
    var report = SampleReport.of(.both)
    report.isAnonymised = true
    let page = try page(report, .of(.sensor), code)
    let text = try #require(line(page))
    #expect(text.hasPrefix(PageTexts.fill(page.texts.sheet.earlierDays, "14")))
    #expect(text.contains(page.texts.target) && !text.contains("2026") && !text.contains("…"))
    for paper in Paper.allCases {
      let sheets = page.sheets(.summary, paper)
      #expect(
        sheets.count == 1
          && sheets.allSatisfy { sheet in
            sheet.places.allSatisfy { $0.y + $0.drawing.height <= paper.room + 0.1 }
          })
    }
  }

  @Test func theTableOfDaysNamesItsGlucoseLimits() throws {
    var report = SampleReport.of(.both)
    let html = try page(report, nil).html([.single])
    #expect(html.contains(">% &lt;\u{A0}70</th>") && html.contains(">% &gt;\u{A0}180</th>"))
    #expect(!html.contains(">low, %<") && !html.contains(">high, %<"))
    (report.unit, report.targets) = (.millimolesPerLitre, .pregnancy)
    let other = try page(report, nil, "de").html([.single])
    #expect(other.contains(">% &lt;\u{A0}3,5</th>") && other.contains(">% &gt;\u{A0}7,8</th>"))
  }
}
