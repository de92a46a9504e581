// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests profiles, bars, and the parts of pictures.
struct PlotPartTests {
  // MARK: - Profiles and bars

  private func profile(_ days: Int = 14) throws -> Profile {
    let readings = Array(ArithmeticSeries.readings().prefix(288 * days))
    return try #require(figures(readings, hasProfile: true).profile)
  }

  @Test func theDailyProfileIsDrawnWithAMedianAndTwoFilledAreas() throws {
    let picture = ProfilePlot(
      try profile(), .standard, GlucoseText(.milligramsPerDecilitre), PlotSigns(isASCII: false), columns: 60,
      rows: 8)
    #expect(
      picture.lines.map(\.text).joined(separator: "\n") == """
         300 ┤
         250 ┤   ░░░░░░     ░░░                  ░░░░░      ░░░░░░░
             │░░░░░▒▒▒░░░░░░░░░░░░░░░░░░    ░ ░░░░▒▒▒▒░░░░░░▒▒▒░░░░░
         180 ┤▒⢀⣀▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒░░░░░░░░▒▒▒⣀⣀⣀⣀▒▒▒▒▒⣀▒▒▒▒▒▒▒
             │⠒⠋⠈⠙⠒⠋⠙⠒⠒⠒⠒⠒⠦⠤⠤⠤⠤⠖⠋⠙⠒⠒⠲⠤⢤⣀⣀▒▒▒▒▒▒▒⢀⡼⠉⠁▒▒⠈⠓⠦⠤⠞⠉⠉⠉⠓⠒⠦⠤⠤⠤
             │▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒⠈⠳⠤⣤⠴⠒⠒⠒⠚▒░░▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒
          70 ┤░░░░░░▒▒▒░░░░░░░░░░░▒▒▒▒▒░▒▒▒▒▒▒▒▒▒░░░░░░░░░░░░░░░░▒░░
          54 ┤░░░   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   ░░░░    ░░░░
             └┴─────┴──────┴──────┴──────┴─────┴──────┴──────┴─────┴
              00    03     06     09     12    15     18     21   24
        ⠒ median   ▒ half of the readings   ░ nine of ten
        """)
  }

  @Test func aDailyProfileInASCIIHasOnlyASCIICharacters() throws {
    let picture = ProfilePlot(
      try profile(), .standard, GlucoseText(.millimolesPerLitre), PlotSigns(isASCII: true), columns: 40,
      rows: 8)
    #expect(
      picture.lines.map(\.text).joined(separator: "\n") == """
        17.0 +
        13.9 +  .  .   .            ...    ....
             |................    ...:..........
        10.0 +::::::::::::::::......:***::::::::
             |*****************:::::**:*********
             |::::::::::::::::*******.::::::::::
         3.9 +....::.......:::.:::::............
         3.0 +.   ....................  ...  ...
             ++-------+--------+-------+-------+
              00      06       12      18     24
        * median   : half of the readings
        . nine of ten
        """)
  }

  @Test func aDailyProfileInWordsHasASentenceForEveryThirdHour() throws {
    #expect(
      try profile().words(GlucoseText(.milligramsPerDecilitre)).joined(separator: "\n") == """
        24-hour profile in mg/dL:
        At 00:00: median 151, half of the readings from 116 to 179, nine of ten from 64 to 210.
        At 03:00: median 161, half of the readings from 97 to 206, nine of ten from 63 to 238.
        At 06:00: median 148, half of the readings from 114 to 181, nine of ten from 44 to 236.
        At 09:00: median 158, half of the readings from 105 to 196, nine of ten from 59 to 226.
        At 12:00: median 128, half of the readings from 97 to 155, nine of ten from 58 to 179.
        At 15:00: median 123, half of the readings from 99 to 153, nine of ten from 62 to 211.
        At 18:00: median 172, half of the readings from 114 to 201, nine of ten from 79 to 235.
        At 21:00: median 165, half of the readings from 127 to 205, nine of ten from 76 to 248.
        """)
  }

  @Test func aMissingDailyProfileIsReplacedByTheReason() throws {
    let glucose = GlucoseText(.milligramsPerDecilitre)
    let picture = ProfilePlot(
      try profile(1), .standard, glucose, PlotSigns(isASCII: false), columns: 40)
    #expect(
      picture.lines.map(\.text).joined(separator: "\n") == "24-hour profile — (1 of 7 days, 100 % of time)")
    #expect(try profile(1).words(glucose) == ["24-hour profile: none (1 of 7 days, 100 % of time)."])
  }

  @Test(arguments: [
    ([0, 0, 100, 0, 0], 10, [0, 0, 10, 0, 0]), ([0.01, 0, 99.99, 0, 0], 10, [1, 0, 9, 0, 0]),
    ([20, 20, 20, 20, 20], 10, [2, 2, 2, 2, 2]), ([1, 1, 1, 1, 96], 40, [1, 1, 1, 1, 36]),
    ([33.3, 0, 33.3, 0, 33.4], 10, [3, 0, 3, 0, 4]), ([0, 0, 0, 0, 0], 10, [0, 0, 0, 0, 0]),
  ])
  func everyNonzeroShareHasACellInTheRangeBar(_ percents: [Double], _ count: Int, _ cells: [Int]) {
    #expect(RangeBar.cells(percents, of: count) == cells)
  }

  @Test(arguments: [
    (60, "██         ↓", "==         v"), (120, "████        ", "====        "),
    (190, "██████▍    ↑", "======     ^"), (300, "██████████ ↑", "========== ^"),
    (500, "██████████ ↑", "========== ^"),
  ])
  func aReadingInTheTerminalIsShownAsABarWithAnArrow(_ value: Int, _ text: String, _ ascii: String) throws {
    let level = try #require(Reading.level(Double(value)))
    for (isASCII, expected) in [(false, text), (true, ascii)] {
      let line = ReadingBar.line(level, .standard, PlotSigns(isASCII: isASCII))
      #expect(line.pieces.map(\.text).joined() == expected && line.columns == ReadingBar.columns)
    }
  }

  // MARK: - Canvas and scale

  @Test func aTerminalCanvasDrawsEightDotsInEachCharacter() {
    var canvas = PlotCanvas(columns: 2, rows: 1, PlotSigns(isASCII: false))
    for (x, y) in [(0, 0), (1, 3), (2, 1), (-1, 0), (0, 4), (4, 0)] { canvas.dot(x, y, nil) }
    #expect(canvas.line(0).text == "\u{2881}\u{2802}")
    canvas.ground("x", column: 0, row: 0, nil)
    #expect(canvas.line(0).text == "\u{2881}\u{2802}")
    canvas.top("x", column: 0, row: 0, nil)
    #expect(canvas.line(0).text == "x\u{2802}")
  }

  @Test func aLineOnTheTerminalCanvasIncludesBothEnds() {
    for end in [(0, 0), (3, 3), (0, 3), (3, 0)] {
      var (one, other) = (
        PlotCanvas(columns: 2, rows: 1, PlotSigns(isASCII: false)),
        PlotCanvas(columns: 2, rows: 1, PlotSigns(isASCII: false))
      )
      one.line(from: (1, 2), to: end, nil)
      other.dot(end.0, end.1, nil)
      other.dot(1, 2, nil)
      let (whole, ends) = (one.line(0).text.unicodeScalars, other.line(0).text.unicodeScalars)
      for (a, b) in zip(whole, ends) where b.value >= 0x2800 {
        #expect(a.value & b.value & 0xFF == b.value & 0xFF)
      }
    }
  }

  @Test(arguments: [
    (40.0, 0, 11), (300.0, 0, 0), (20.0, 0, 11), (170.0, 0, 6), (301.0, 301, 3), (400.0, 400, 0),
    (400.0, 500, 4), (500.0, 500, 2), (600.0, 600, 0), (700.0, 700, 0),
  ])
  func aValueInTheTerminalChartIsDrawnAtItsPositionAndNeverOutside(
    _ value: Double, _ highest: Int, _ place: Int
  ) {
    let scale = GlucoseScale(highest: Double(highest), .milligramsPerDecilitre)
    #expect(scale.rowIndex(value, of: 12) == place)
  }

  /// A sensor's HI counts as 22.2 mmol/L, for which the scale up to 22 is enough.
  @Test(arguments: [(17.0, 17.0), (17.1, 22), (22.2, 22), (22.3, 34), (33.3, 34)])
  func theTerminalScaleInMillimolesFitsTheData(_ highest: Double, _ top: Double) {
    let factor = Quantity.milligramsPerDecilitreInMillimole
    let scale = GlucoseScale(highest: highest * factor, .millimolesPerLitre)
    #expect(abs(scale.top / factor - top) < 0.001)
  }

  @Test func overlappingChartLabelsAreMovedOrCountedAsLeftOut() {
    let frame = PlotFrame(
      PlotSigns(isASCII: true), GlucoseText(.milligramsPerDecilitre), .standard, highest: 0, columns: 40,
      rows: 6)
    let near = frame.row(of: [(0, "10", nil), (1, "20", nil), (33, "30", nil)])
    #expect(near.text == "10 20                           30")
    let many = frame.row(of: (0..<20).map { (20 + $0 / 4, "10", nil) })
    #expect(many.text == "                    10 10 10 +17" && many.columns <= 34)
  }
}
