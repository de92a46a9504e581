// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF
import Testing

@testable import Report

/// Tests the page of a report on a phone: each picture has a version with the width of the screen, and only
/// tables scroll.
struct PhonePageTests {
  private static let languages = PageTexts.all.map(\.code)

  private func page(_ report: SampleReport, _ code: String = "en") throws -> ReportPage {
    ReportPage(report.contents, try #require(PageTexts.all.first { $0.code == code }))
  }

  private func boxes(_ page: ReportPage) -> [Sheet.Box] {
    ReportPart.allCases.filter { $0 != .single && $0 != .about }.flatMap { page.sheets($0, .a4) }.flatMap(
      \.boxes)
  }

  @Test(arguments: languages, SampleReport.Kind.allCases)
  func everyPictureForAPhoneIsComplete(_ code: String, _ kind: SampleReport.Kind) throws {
    var report = SampleReport.of(kind)
    report.unit = code == "de" || code == "fr" ? .millimolesPerLitre : .milligramsPerDecilitre
    for drawing in boxes(try page(report, code)).compactMap(\.narrow) {
      #expect(drawing.width == Sheet.phoneWidth)
      #expect(DrawingCheck.texts(drawing).allSatisfy { $0.font.size >= 7 }, "they are 9 pixels high at 360")
      #expect(DrawingCheck.faults(drawing) == [] && DrawingCheck.openParts(drawing) == 0, "\(code) \(kind)")
      #expect(DrawingCheck.words(drawing).filter { $0.contains("…") } == [], "\(code) \(kind)")
    }
  }

  @Test(arguments: SampleReport.Kind.allCases)
  func onAPhoneOnlyTablesOfAReportScroll(_ kind: SampleReport.Kind) throws {
    let page = try page(.of(kind))
    let wide = boxes(page).filter { $0.isWide && !$0.isText && !$0.isTable }
    #expect(wide.filter { $0.narrow == nil }.count == 0)
    let pictures = page.model([.single]).sections.flatMap(\.blocks).flatMap(\.parts).compactMap(\.picture)
    #expect(pictures.filter { $0.narrow == nil }.count == 0)
    #expect(!pictures.isEmpty)
    let about = page.model([.about]).sections.flatMap(\.blocks).flatMap(\.parts).compactMap(\.picture)
    #expect(about.filter { $0.scrolls && $0.narrow == nil }.count == 0)
  }

  @Test func onAPhoneDaysOfTheSameWeekdayAreInOneRow() throws {
    let page = try page(.of(.sensor))
    let texts = DrawingCheck.texts(page.thumbnailsBox(Sheet.phoneWidth, height: 400))
    func position(_ text: String) throws -> (x: Double, y: Double) {
      let found = try #require(texts.first { $0.text == text }, "\(texts.map(\.text))")
      return (found.x, found.y)
    }
    let (first, second, next) = (try position("Mo 2 Mar"), try position("Mo 9 Mar"), try position("Tu 3 Mar"))
    #expect(first.y == second.y && first.x < second.x && first.x == next.x && first.y < next.y)
  }

  @Test(arguments: languages) func theReportExplainsTheDotsOfTheDailyCurves(_ code: String) throws {
    func has(_ kind: SampleReport.Kind, _ width: Double) throws -> Bool {
      let page = try page(.of(kind), code)
      let words = DrawingCheck.words(page.thumbnailsBox(width, height: 400)).joined(separator: " ")
      return words.contains(page.texts.sheet.stickDots)
    }
    for width in [Sheet.width, Sheet.phoneWidth] {
      #expect(try has(.both, width))
      // The dots are explained only if they are on a curve. A sensor without a meter has no dots, and a meter
      // without a sensor has no curve.
      #expect(try !has(.sensor, width) && !has(.meter, width))
    }
  }

  // MARK: - Tables of days

  @Test(arguments: [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre])
  func tablesOfDaysShowTheLowestAndHighestValue(_ unit: GlucoseUnit) throws {
    var report = SampleReport.of(.both)
    report.unit = unit
    let page = try page(report)
    let start = Int(SampleReport.start / 86400)
    let values = report.readings.filter { $0.kind == .cbg && Int($0.deviceTime.seconds / 86400) == start + 1 }
      .compactMap(\.measurement.quantity?.number)
    let (low, high) = (try #require(values.min()), try #require(values.max()))
    try #require(low < high)
    let text = "\(page.glucose.number(low))–\(page.glucose.number(high))"
    let rows = page.sheets(.days, .a4).flatMap(\.boxes).filter(\.isTable).flatMap {
      DrawingCheck.rows($0.drawing)
    }
    #expect(rows.first { $0[0] == "Tu 2026-03-03" }?[4] == text)
    #expect(rows.filter { $0[0] == "Mean" }.map { $0[4] } == [""])
    #expect(try page.html([.single]).contains("2026-03-03</th><td>288</td>"))
    #expect(try page.html([.single]).contains("<td>\(text)</td>"))
  }

  @Test func tablesOfDaysShowValuesOutsideTheSensorRangeAsLOOrHI() throws {
    var report = SampleReport.of(.both)
    let index = try #require(report.readings.firstIndex { $0.kind == .cbg })
    report.readings[index] = Reading.of(
      .cbg, .low(below: 40, .milligramsPerDecilitre), at: report.readings[index].deviceTime.seconds)
    let sensor = try #require(try page(report).groups[Int(SampleReport.start / 86400)]?.sensor)
    let text = try #require(try page(report).extremes(sensor))
    #expect(text.hasPrefix("LO–") && sensor.lowest.number == 40)
    #expect(try page(.of(.meter)).extremes(page(.of(.meter)).total.sensor) == nil)
  }
}
