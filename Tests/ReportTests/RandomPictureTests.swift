// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests pictures and pages of random days: they are well formed, inside their frames, and contain only
/// finite numbers.
struct RandomPictureTests {
  /// A day with all possible contents of a logbook, at random times.
  private static func day(_ seed: UInt64, words: [String] = words) -> SampleDay {
    var walk = RandomWalk(seed: seed)
    var day = SampleDay()
    let midnight = SampleDay.midnight
    for index in 0..<Int64(288) where !walk.happens(onceIn: 4) {
      let time = midnight + index * 300
      switch walk.number(0...11) {
      case 0: day.readings.append(Reading.of(.cbg, .low(below: nil, .milligramsPerDecilitre), at: time))
      case 1: day.readings.append(Reading.of(.cbg, .high(above: 500, .milligramsPerDecilitre), at: time))
      case 2:
        let value = Quantity(Double(walk.number(6...550)) / 10, .millimolesPerLitre)
        day.readings.append(Reading.of(.cbg, .value(value), at: time))
      case 3: day.readings.append(Reading.sensor(walk.number(1...1000), at: time))
      default: day.readings.append(Reading.sensor(walk.next(), at: time))
      }
      if walk.happens(onceIn: 12) {
        day.readings.append(Reading.finger(walk.number(10...1000), at: time + 17))
      }
    }
    for _ in 0..<walk.number(0...40) {
      let time = DeviceTime(seconds: midnight + Int64(walk.number(0...86_399))).text
      day.records.append((kind(&walk), fields(&walk, words), time))
    }
    day.records.sort { $0.time < $1.time }
    return day
  }

  private static func kind(_ walk: inout RandomWalk) -> RecordKind {
    [.insulin, .food, .exercise, .note][walk.number(0...3)]
  }

  private static let words = ["", "a < b & c", "\"'>", "\u{202E}\u{7}", "dinner", "é\u{301}猫"]

  private static func fields(_ walk: inout RandomWalk, _ words: [String]) -> RecordFields {
    var fields: [String: FieldValue] = ["text": .text(words[walk.number(0...words.count - 1)])]
    for name in ["units", "rate", "minutes", "extended", "carbs", "servings"] where walk.happens(onceIn: 2) {
      fields[name] = .number(Double(walk.number(0...5000)) / [1, 4, 100][walk.number(0...2)])
    }
    if walk.happens(onceIn: 2) {
      fields["subtype"] = .text(["rapid", "long", "basal", "<b>"][walk.number(0...3)])
    }
    return RecordFields(fields)
  }

  private static let units: [GlucoseUnit] = [.milligramsPerDecilitre, .millimolesPerLitre]

  private static func expectWhole(_ svg: String, _ name: String) throws {
    let check = XMLCheck(svg)
    #expect(check.faults.isEmpty, "\(name): \(check.faults.prefix(3))")
    let root = try #require(check.elements.first { $0.name == "svg" })
    let box = try #require(root.attributes["viewBox"]).split(separator: " ").compactMap { Double($0) }
    try #require(box.count == 4 && box[0] == 0 && box[1] == 0)
    let strays = check.strays(width: box[2], height: box[3])
    #expect(strays.isEmpty, "\(name): \(strays.prefix(3))")
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  // MARK: - The check itself

  @Test(arguments: [
    "<a><b></a></b>", "<a", "<a><b/>", "<a b=\"1\" b=\"2\"/>", "<a b=1/>", "<a>x & y</a>", "<a b=\"&x;\"/>",
    "<a>1 > 0</a>", "</a>", "<1/>",
  ])
  func invalidMarkupIsFoundByTheXMLCheck(_ text: String) {
    #expect(!XMLCheck(text).faults.isEmpty, "\(text)")
    #expect(XMLCheck("<a b=\"1\"><c>x &amp; y</c><d/></a>").faults.isEmpty)
  }

  @Test(arguments: [
    "<rect x=\"90\" y=\"0\" width=\"11\" height=\"1\"/>", "<line x1=\"-1\" y1=\"0\" x2=\"0\" y2=\"0\"/>",
    "<circle cx=\"1\" cy=\"51\" r=\"3\"/>", "<path d=\"M1 2L3\"/>", "<path d=\"M1 2L3 nan\"/>",
    "<path d=\"M1 2L3 4 101 5\"/>", "<path d=\"M1 2H101\"/>", "<path d=\"M1 2C3 4\"/>",
    "<text x=\"a\" y=\"1\">b</text>",
  ])
  func elementsOutsideThePictureAreFoundByTheXMLCheck(_ text: String) {
    #expect(!XMLCheck(text).strays(width: 100, height: 50).isEmpty, "\(text)")
    let inside = "<rect x=\"90\" y=\"0\" width=\"10\" height=\"50\"/><path d=\"M1 2L3 4 100 50H7h1Z\"/>"
    #expect(XMLCheck(inside).strays(width: 100, height: 50).isEmpty)
  }

  // MARK: - Pictures

  @Test(arguments: UInt64(1)...8) func aRandomDayIsDrawnWithinItsFrame(_ seed: UInt64) throws {
    let curve = try #require(Self.day(seed).contents.day)
    let highest = curve.sensor.map(\.level.milligrams).max() ?? 0
    for unit in Self.units {
      let chart = DayChart(
        day: curve, targets: seed.isMultiple(of: 2) ? .pregnancy : .standard, glucose: GlucoseText(unit),
        highest: PlotArea.end(highest, unit))
      let drawing = chart.drawing("<T> & \"t\"")
      #expect(DrawingCheck.faults(drawing) == [], "day \(seed) in \(unit.name)")
      if seed < 3 { #expect(XMLCheck(drawing.svg).faults == []) }
    }
  }

  // MARK: - Terminal

  @Test(arguments: UInt64(1)...5) func aRandomDayInTheTerminalKeepsToItsWidthAndCharacters(_ seed: UInt64) {
    let day = Self.day(seed)
    for (unit, columns) in zip(Self.units, [40, 97]) {
      for isASCII in [false, true] {
        let lines = day.lines(unit, isASCII: isASCII, columns: columns, rows: 10)
        #expect(lines.count > 10 && lines.allSatisfy { $0.columns <= columns }, "\(seed)")
        let text = lines.map(\.text).joined()
        #expect(!text.contains("nan") && !text.contains("inf"))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
      }
      let plain = Self.day(seed, words: ["", "a < b", "dinner"]).lines(unit, isASCII: true, columns: columns)
      #expect(plain.allSatisfy { $0.text.allSatisfy(\.isASCII) })
    }
  }

  @Test(arguments: UInt64(1)...5) func aRandomDayInWordsHasCompleteSentencesWithoutDrawingCharacters(
    _ seed: UInt64
  ) {
    for sentence in Self.day(seed).sentences {
      #expect(sentence.hasSuffix("."), "\(sentence)")
      #expect(!sentence.contains("nan") && !sentence.contains("│") && !sentence.contains("\n"), "\(sentence)")
    }
  }

  @Test(arguments: UInt64(1)...30) func theCellsOfARangeBarAddUpToItsLength(_ seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    let percents = (0..<5).map { _ in walk.happens(onceIn: 3) ? 0 : Double(walk.number(1...1000)) / 10 }
    let count = walk.number(5...160)
    let cells = RangeBar.cells(percents, of: count)
    let sum = percents.reduce(0, +)
    #expect(cells.reduce(0, +) == (sum > 0 ? count : 0), "\(percents)")
    for (cell, percent) in zip(cells, percents) {
      #expect((cell > 0) == (percent > 0), "\(percents)")
      // Each of the five shares may need one cell, so a share differs from its exact size by less than 5
      // cells.
      if sum > 0 { #expect(abs(Double(cell) - percent / sum * Double(count)) < 5, "\(percents)") }
    }
  }

  // MARK: - Pages

  private static let languages = PageTexts.all.map(\.code)

  @Test(arguments: languages) func everyPictureOfAReportIsValidInEveryLanguage(_ code: String) throws {
    let texts = try #require(PageTexts.all.first { $0.code == code })
    var report = SampleReport()
    report.days = 3
    for number in 0..<Int64(3) {
      let day = Self.day(UInt64(40 + number))
      report.readings += day.readings.map { reading in
        var moved = reading
        moved.deviceTime = DeviceTime(seconds: reading.deviceTime.seconds + number * 86_400)
        return moved
      }
      report.records += day.records.map { record in
        let time = DeviceTime(seconds: Time.at(record.time) + number * 86_400).text
        return (record.kind, record.fields, time)
      }
    }
    let html = try report.html(texts)
    let pictures = zip(html.ranges(of: "<svg"), html.ranges(of: "</svg>")).map {
      String(html[$0.lowerBound..<$1.upperBound])
    }
    #expect(pictures.count == 2 * 3, "each for a screen with room and for a phone")
    for picture in pictures { #expect(XMLCheck(picture).faults == [], "\(code)") }
    #expect(!html.contains("NaN") && !html.contains(">nan<") && !html.contains(">inf<"))
    #expect(!html.contains("{1}") && !html.contains("{2}") && !html.contains("<b>"))
  }

  /// A heading is at most one level deeper than the heading before it. Every section has a heading.
  @Test(arguments: languages) func reportHeadingsAreNestedInOrderInEveryLanguage(_ code: String) throws {
    let texts = try #require(PageTexts.all.first { $0.code == code })
    let html = try SampleReport.usual.html(texts)
    let headings = html.matches(of: /<h([1-6])[^>]*>([^<]*)<\/h([1-6])>/)
    let levels = headings.compactMap { Int($0.1) }
    #expect(levels.first == 1 && levels.filter { $0 == 1 }.count == 1)
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $1 <= $0 + 1 })
    #expect(headings.allSatisfy { !$0.2.isEmpty && $0.1 == $0.3 })
    let sections = html.ranges(of: "<section").count
    #expect(levels.filter { $0 == 2 }.count == sections && sections == 9)
  }

  /// Decimals follow the decimal separator of the language, and a number has only one separator.
  @Test func eachReportLanguageUsesOneDecimalSeparator() throws {
    for texts in PageTexts.all {
      let html = try SampleReport.usual.html(texts)
      let cells = html.matches(of: /<td>([^<]*)<\/td>/).map { String($0.1) }
      let other = texts.mark == "." ? "," : "."
      #expect(cells.contains { $0.contains(/\d[.,]\d/) })
      for cell in cells where !cell.contains("glucoport") {
        #expect(
          cell.firstMatch(of: /\d[.,]\d/).map { !$0.output.contains(other) } ?? true, "\(texts.code): \(cell)"
        )
      }
    }
  }
}
