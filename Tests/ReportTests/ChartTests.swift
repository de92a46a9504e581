// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests the pictures on a page.
struct ChartTests {
  private let glucose = GlucoseText(.milligramsPerDecilitre)
  private let scale = GlucoseScale(highest: 300, .milligramsPerDecilitre)

  private func picture(_ day: SampleDay) throws -> String {
    let curve = try #require(day.contents.day)
    return DayChart(day: curve, targets: .standard, glucose: glucose, scale: scale).picture(
      "a", title: "T", description: "D"
    ).description
  }

  /// The outlines with this class.
  private func outlines(_ name: String, _ svg: String) -> [String] {
    svg.matches(of: /<path class="([a-z]+)" d="([^"]+)"/).filter { $0.1 == name }.map { String($0.2) }
  }

  @Test func aValueIsDrawnAtItsPosition() {
    let area = ChartArea(height: 260, scale: scale)
    #expect(area.y(300) == 8 && area.y(40) == 268 && area.y(170) == 138)
    #expect(area.y(500) == 8 && area.y(10) == 268)
    #expect(area.x(0) == 44 && area.x(1) == 710 && area.x(0.5) == 377 && area.x(-1) == 44 && area.x(2) == 710)
  }

  @Test func anOutlineHasEachPointOnce() {
    #expect(SVG.outline([(1, 2), (3, 4), (3, 4), (5, 6)]) == "M1 2L3 4 5 6")
    #expect(SVG.outline([(1, 2), (3, 4)], isClosed: true) == "M1 2L3 4Z")
    #expect(SVG.outline([(1, 2)]) == "M1 2h1" && SVG.outline([(1, 2), (1, 2)]) == "M1 2h1")
    #expect(SVG.outline([]) == "" && SVG.path("curve", "") == "")
  }

  @Test func pointsWithOneXAreReducedToTheVisibleOnes() {
    let points = [(x: 1, y: 5), (1, 9), (1, 1), (1, 4), (1, 6), (2, 3), (2, 4)]
    let kept = SVG.thinned(points)
    #expect(kept.map { [$0.x, $0.y] } == [[1, 5], [1, 1], [1, 9], [1, 6], [2, 3], [2, 4]])
    #expect(SVG.thinned([]).isEmpty)
  }

  @Test func aGapBreaksTheCurve() throws {
    #expect(outlines("curve", try picture(.eventful)).count == 2)
    #expect(outlines("curve", try picture(.longDay)).count == 1)
    #expect(outlines("curve", try picture(.empty)).isEmpty)
  }

  @Test func valuesOutsideTheTargetAreFilledAreas() throws {
    let svg = try picture(.eventful)
    #expect(outlines("above", svg).count == 3 && outlines("below", svg).count == 4)
    #expect(outlines("above", svg).allSatisfy { $0.hasSuffix("Z") })
    let low = try picture(.allLow)
    #expect(outlines("above", low).isEmpty && outlines("below", low).count == 1)
  }

  @Test func insulinFoodAndFingerSticksAreMarked() throws {
    let svg = try picture(.eventful)
    #expect(
      svg.ranges(of: "<rect class=\"insulin\"").count == 2
        && svg.ranges(of: "<rect class=\"food\"").count == 2)
    #expect(
      svg.ranges(of: "<circle class=\"stick\"").count == 2
        && svg.ranges(of: "<circle class=\"scan\"").count == 1)
    // The number of the second dose is left out, because the first dose is too near.
    #expect(svg.contains(">4.5</text>") && !svg.contains(">20</text>") && svg.contains(">45</text>"))
    #expect(try !picture(.oneReading).contains("class=\"insulin\""))
  }

  @Test func allCoordinatesAreWholeNumbers() throws {
    let outline = try #require(outlines("curve", try picture(.eventful)).first)
    #expect(outline.firstMatch(of: /[^0-9MLh ]/) == nil)
  }

  @Test func theCurvesShowThePercentilesOfTheProfile() throws {
    let profile = try #require(figures(ArithmeticSeries.readings(), hasProfile: true).profile)
    let svg = ProfileChart(profile: profile, targets: .standard, glucose: glucose).picture(
      "a", title: "T", description: "D"
    ).description
    let area = ChartArea(height: 250, scale: scale)
    let median = try #require(outlines("median", svg).first)
    let places = median.dropFirst().split { " L".contains($0) }.compactMap { Int($0) }
    let values = try profile.points.map { try #require($0.percentiles) }
    #expect(outlines("tails", svg).count == 1 && outlines("half", svg).count == 1)
    #expect(Array(places.prefix(2)) == [44, area.y(values[0][2])])
    // The curve is closed over midnight.
    #expect(Array(places.suffix(2)) == [710, area.y(values[0][2])] && places.count == 2 * 97)
    #expect(places[48 * 2 + 1] == area.y(values[48][2]))
    let tails = try #require(outlines("tails", svg).first)
    #expect(
      tails.hasPrefix("M44 \(area.y(values[0][4]))L") && tails.hasSuffix(" 44 \(area.y(values[0][0]))Z"))
  }

  @Test func aGapInTheProfileIsAGapInItsCurves() throws {
    let readings = ArithmeticSeries.readings { !(96..<144).contains($0 % 288) }
    let profile = try #require(figures(readings, hasProfile: true).profile)
    let svg = ProfileChart(profile: profile, targets: .standard, glucose: glucose).picture(
      "a", title: "T", description: "D"
    ).description
    #expect(outlines("median", svg).count == 2 && outlines("half", svg).count == 2)
  }

  @Test(arguments: [
    ([10, 12, 14, 200, 240], [14, 34, 54, 200, 240]), ([250, 250, 250], [206, 226, 246]), ([50], [50]),
    ([], []),
  ])
  func labelsNeverCoverEachOther(_ middles: [Int], _ places: [Int]) {
    #expect(RangeChart.apart(middles) == places)
  }

  @Test func eachRangeHasItsShareOfTheBar() {
    let parts: [(name: String, percent: Double, text: String)?] = [
      ("a", 0, "0"), ("b", 25, "25"), ("c", 50, "50"), ("d", 25, "25"), nil,
    ]
    let svg = RangeChart(parts: parts).picture("a", title: "T", description: "D").description
    let heights = svg.matches(of: /<rect class="b(\d) part"[^>]* height="(\d+)"/).map { "\($0.1) \($0.2)" }
    #expect(heights == ["3 60", "2 120", "1 60"])
    #expect(svg.contains(">0 % a</text>") && !svg.contains("b4"))
  }

  @Test func aBlockOfThreeHoursNeedsReadingsForMedianAndQuartiles() throws {
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
