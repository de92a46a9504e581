// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import PDF
import Testing

@testable import Report

/// Tests the pictures on a page.
struct ChartTests {
  private let glucose = GlucoseText(.milligramsPerDecilitre)

  private func drawing(_ day: SampleDay) throws -> Drawing {
    let curve = try #require(day.contents.day)
    return DayChart(day: curve, targets: .standard, glucose: glucose, highest: 300).drawing("D")
  }

  /// The number of outlines in this colour that are filled, or drawn as lines.
  private func outlines(_ ink: Ink, _ drawing: Drawing, isFilled: Bool = false) -> Int {
    drawing.operations.filter { operation in
      if case .shape(let outline, let fill, let stroke) = operation {
        return outline.count > 2 && (isFilled ? fill == ink : fill == nil && stroke?.ink == ink)
      }
      return false
    }.count
  }

  @Test func aValueIsPlacedInTheChartByItsSizeAndTime() {
    let area = PlotArea(left: 40, top: 10, right: 140, bottom: 110, highest: 400)
    #expect(area.y(0) == 110 && area.y(400) == 10 && area.y(100) == 85 && area.y(500) == 10)
    #expect(area.x(0) == 40 && area.x(1) == 140 && area.x(0.5) == 90 && area.x(-1) == 40 && area.x(2) == 140)
  }

  @Test func aGapInTheDataBreaksTheCurve() throws {
    #expect(outlines(.curve, try drawing(.eventful)) == 2)
    #expect(outlines(.curve, try drawing(.longDay)) == 1)
    #expect(outlines(.curve, try drawing(.empty)) == 0)
  }

  /// A single sample has no neighbour to which a line could be drawn. So it is drawn as a dot.
  @Test func aSingleSampleBetweenGapsIsDrawnAsADot() throws {
    func dots(_ day: SampleDay) throws -> [Double] {
      try drawing(day).operations.compactMap { operation in
        if case .circle(let x, _, _, .some(.curve), _) = operation { x } else { nil }
      }
    }
    #expect(try dots(.eventful) == [] && dots(.longDay) == [])
    let single = try dots(.oneReading)
    #expect(single.count == 1 && abs((single.first ?? 0) - (30 + (Sheet.width - 38) / 3)) < 0.01)
  }

  @Test func dosesOfOneMinuteAreLabelledWithOneSum() throws {
    var day = SampleDay.empty
    func dose(_ units: Double, _ subtype: String, _ time: String) {
      day.records.append(
        (
          .insulin, RecordFields(["units": .number(units), "subtype": .text(subtype)]), "2026-03-02T\(time)"
        ))
    }
    dose(21.3, "rapid", "08:00")
    dose(21.3, "rapid", "08:00")
    dose(4, "rapid", "12:00")
    dose(2.5, "rapid", "12:00")
    dose(18, "long", "12:00")
    dose(7, "long", "23:58")
    dose(1, "rapid", "23:59")
    let drawing = try drawing(day)
    let words = DrawingCheck.words(drawing)
    #expect(words.contains("2 × 21.3") && words.contains("6.5") && words.contains("18"), "\(words)")
    #expect(!words.contains("21.3") && !words.contains("4") && !words.contains("2.5"))
    #expect(outlines(.rapid, drawing, isFilled: true) == 3 && outlines(.basal, drawing, isFilled: true) == 2)
    #expect(DrawingCheck.faults(drawing) == [])
    // The marks of two doses at the same minute are next to each other.
    let lefts = drawing.operations.compactMap { operation -> Double? in
      guard case .shape(let outline, let fill, _) = operation, fill == .rapid || fill == .basal,
        case .move(let x, _) = outline[0]
      else { return nil }
      return x
    }
    #expect(lefts.count == 5 && Set(lefts).count == 5)
  }

  @Test func theChartFillsTheAreaWhereTheCurveLeavesTheTarget() throws {
    let eventful = try drawing(.eventful)
    #expect(
      outlines(.above, eventful, isFilled: true) == 3 && outlines(.below, eventful, isFilled: true) == 4)
    let low = try drawing(.allLow)
    #expect(outlines(.above, low, isFilled: true) == 0 && outlines(.below, low, isFilled: true) == 1)
  }

  @Test func theChartMarksInsulinFoodAndFingerSticks() throws {
    let eventful = try drawing(.eventful)
    #expect(
      outlines(.rapid, eventful, isFilled: true) == 1 && outlines(.basal, eventful, isFilled: true) == 1)
    #expect(outlines(.food, eventful, isFilled: true) == 2)
    let circles = eventful.operations.compactMap { operation -> Bool? in
      if case .circle(_, _, _, let fill, _) = operation { fill != nil } else { nil }
    }
    #expect(circles == [false, true, true])
    let words = DrawingCheck.words(eventful)
    #expect(words.contains("4.5") && words.contains("20") && words.contains("45"))
  }

  /// The edges of each mark of insulin in a drawing: left, top, right and bottom.
  private func marks(
    _ drawing: Drawing, _ inks: Set<Ink> = [.rapid, .basal]
  ) -> [(left: Double, top: Double, right: Double, bottom: Double)] {
    drawing.operations.compactMap { operation in
      guard case .shape(let outline, .some(let fill), _) = operation, inks.contains(fill),
        case .move(let left, let top) = outline[0], case .line(let right, let bottom) = outline[2]
      else { return nil }
      return (left, top, right, bottom)
    }
  }

  private func numbers(_ drawing: Drawing) -> [Drawing.Text] {
    DrawingCheck.texts(drawing).filter { [.rapid, .basal].contains($0.ink) && Double($0.text) != nil }
  }

  private func expectNoMarkInANumber(_ drawing: Drawing) {
    for text in numbers(drawing) {
      let top = text.y - 0.73 * text.font.size
      #expect(
        marks(drawing).allSatisfy {
          $0.right <= text.x || $0.left >= text.x + text.width || $0.bottom <= top || $0.top >= text.y
        }, "\(text.text)")
    }
  }

  private func day(_ doses: [(units: Double, subtype: String, time: String)]) -> SampleDay {
    var day = SampleDay.empty
    day.records = doses.map { units, subtype, time in
      let fields = RecordFields(["units": .number(units), "subtype": .text(subtype)])
      return (.insulin, fields, "2026-03-02T\(time)")
    }
    return day
  }

  /// The mark of the next dose must not cover the number of a bolus, and each dose must have its number.
  @Test(arguments: ["08:04", "08:10", "08:30", "09:10"], ["long", "rapid"])
  func twoDosesCloseInTimeAreBothLabelled(_ time: String, _ subtype: String) throws {
    let drawing = try drawing(day([(4.5, "rapid", "08:00"), (18, subtype, time)]))
    let inks = numbers(drawing).map(\.ink)
    #expect(numbers(drawing).map(\.text) == ["4.5", "18"])
    #expect(inks == [.rapid, subtype == "long" ? .basal : .rapid])
    #expect(marks(drawing).count == 2)
    if subtype == "long" { #expect(marks(drawing)[0].right < marks(drawing)[1].left) }
    expectNoMarkInANumber(drawing)
  }

  /// The doses of a pump every five minutes leave no room for all numbers. The numbers of the larger doses
  /// at meals must be drawn.
  @Test func theLargestOfManyDosesAreLabelled() throws {
    let small = (0..<100).map { index in
      let minutes = 10 * 60 + index * 5
      return (0.15, "rapid", String(DeviceTime(seconds: Int64(minutes * 60)).text.suffix(8)))
    }
    let meals = [(7.25, "rapid", "12:03:00"), (6.55, "rapid", "16:41:00")]
    let drawing = try drawing(day((small + meals).sorted { $0.2 < $1.2 }))
    let texts = numbers(drawing).map(\.text)
    #expect(texts.contains("7.25") && texts.contains("6.55") && texts.count < 60, "\(texts)")
    #expect(DrawingCheck.faults(drawing) == [])
    expectNoMarkInANumber(drawing)
  }

  /// A rate ends after its minutes, where the next rate begins, or at midnight.
  @Test func basalRatesAreDrawnAsAnAreaAtTheBottom() throws {
    func rates(_ date: String, _ rates: [(rate: Double, minutes: Double, time: String)]) throws -> DayCurve {
      var day = SampleDay.empty
      day.records = rates.map { rate, minutes, time in
        let fields = RecordFields([
          "rate": .number(rate), "minutes": .number(minutes), "subtype": .text("basal"),
        ])
        return (.insulin, fields, "2026-03-02T\(time)")
      }
      return try #require(day.contents.day)
    }
    let day = try rates(
      "2026-03-02", [(0.8, 600, "06:00"), (1.6, 60, "12:00"), (0, 60, "15:00"), (0.4, 600, "21:00")])
    var chart = DayChart(day: day, targets: .standard, glucose: glucose, highest: 300)
    #expect(marks(chart.drawing("D"), [.rate]).isEmpty)
    chart.rates = BasalRates([day]).area(of: day)
    let areas = marks(chart.drawing("D"), [.rate])
    let hour = (Sheet.width - 38) / 24
    let hours = areas.map {
      [($0.left - 30) / hour, ($0.right - 30) / hour].map { ($0 * 100).rounded() / 100 }
    }
    #expect(hours == [[6, 12], [12, 13], [21, 24]])
    let heights = areas.map { $0.bottom - $0.top }
    #expect(abs(heights[0] / heights[1] - 0.5) < 0.001 && abs(heights[2] / heights[1] - 0.25) < 0.001)
    #expect(BasalRates([day]).highest == 1.6 && BasalRates([]).highest == 0)
  }

  @Test func eachPartOfTheRangeBarIsAsHighAsItsShare() throws {
    let box = ReportPage(SampleReport.usual.contents, .english).rangesBox(height: 196)
    func height(_ ink: Ink) -> Double {
      for case .shape(let outline, let fill, _) in box.operations where fill == ink {
        if case .move(_, let top) = outline[0], case .line(_, let bottom) = outline[2] {
          return bottom - top + 1
        }
      }
      return 0
    }
    let parts = [Ink.veryHigh, .high, .target, .low, .veryLow].map(height)
    let sum = parts.reduce(0, +)
    for (part, share) in zip(parts, [99.0, 1067, 2514, 181, 171]) {
      #expect(abs(part / sum - share / 4032) < 0.01, "\(parts)")
    }
  }

  @Test(arguments: UInt64(1)...60) func chartLabelsKeepTheirOrderAndMinimumDistance(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let wanted = (0..<walk.number(0...5)).map { _ in Double(walk.number(0...260)) }.sorted()
    let places = ReportPage.spreadApart(wanted, by: 20, from: 14, to: 246)
    #expect(places.count == wanted.count)
    #expect(zip(places, places.dropFirst()).allSatisfy { $1 - $0 >= 20 }, "\(wanted)")
    #expect(places.allSatisfy { $0 >= 14 && $0 <= 246 }, "\(wanted)")
    let isApart = zip(wanted, wanted.dropFirst()).allSatisfy { $1 - $0 >= 20 }
    if isApart, wanted.allSatisfy({ $0 >= 14 && $0 <= 246 }) { #expect(places == wanted) }
  }

  @Test func aDrawnTextIsTruncatedOrWrappedToItsWidth() {
    let font = Drawing.Font.plain
    #expect(font.fitted("short", 100) == "short")
    let cut = font.fitted("a text that is much too long", 60)
    #expect(cut.hasSuffix("…") && font.width(cut) <= 60 && cut.hasPrefix("a text"))
    let lines = font.wrapped("some words and averyverylongwordthatfitsnowhere", 50)
    #expect(lines.allSatisfy { font.width($0) <= 50 } && lines.count > 3)
    #expect(lines.joined().replacing(" ", with: "") == "somewordsandaveryverylongwordthatfitsnowhere")
    #expect(font.wrapped("one two", 1000) == ["one two"] && font.wrapped("a b", 1) == ["a", "b"])
    // A note without blanks may be as long as a store accepts.
    let long = String(repeating: "語", count: 20_000)
    #expect(font.wrapped(long, 50).joined() == long && font.fitted(long, 60).hasSuffix("…"))
  }

  @Test func neighbouringChartColoursDifferAlsoInGrey() {
    func grey(_ ink: Ink) -> Double {
      let parts = [16, 8, 0].map { Double(ink.light >> UInt32($0) & 255) / 255 }
      let linear = parts.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
      return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }
    func contrast(_ one: Ink, _ other: Ink) -> Double {
      let (high, low) = (max(grey(one), grey(other)), min(grey(one), grey(other)))
      return (high + 0.05) / (low + 0.05)
    }
    let bands = [Ink.veryLow, .low, .target, .high, .veryHigh]
    #expect(zip(bands, bands.dropFirst()).allSatisfy { contrast($0, $1) >= 2.7 })
    for ink in [Ink.text, .soft, .rapid, .basal, .food] { #expect(contrast(ink, .paper) >= 4.5, "\(ink)") }
    for ink in [Ink.text, .soft] { #expect(contrast(ink, .panel) >= 4.5 && contrast(ink, .shade) >= 4.5) }
    for ink in [Ink.line, .limit, .curve] { #expect(contrast(ink, .paper) >= 3, "\(ink)") }
  }

  @Test func aThreeHourBlockWithTooFewReadingsHasNoMedianAndQuartiles() throws {
    let midnight = SampleDay.midnight
    var day = SampleDay.empty
    day.readings =
      (0..<5).map { Reading.finger(100 + $0 * 10, at: midnight + Int64($0) * 60) }
      + (0..<3).map { Reading.finger(200, at: midnight + 3 * 3600 + Int64($0) * 60) }
      + [Reading.finger(90, at: midnight + 86399)]
    let blocks = StickBlock.all(try #require(day.contents.day).sticks)
    #expect(blocks.count == 8 && blocks.map { $0?.count ?? 0 } == [5, 3, 0, 0, 0, 0, 0, 1])
    let first = try #require(blocks[0])
    #expect(first.median == 120 && first.quartiles?.low == 110 && first.quartiles?.high == 130)
    #expect(blocks[1]?.median == 200 && blocks[1]?.quartiles == nil)
    #expect(blocks[7]?.median == nil && blocks[7]?.lowest == 90)
  }
}
