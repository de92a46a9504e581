// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF
import SeededRandom
import Testing

@testable import Report

/// Tests the sheets of a report, which HTML and PDF draw with the same operations.
struct SheetTests {
  private static let units = [GlucoseUnit.milligramsPerDecilitre, .millimolesPerLitre]
  private static let languages = PageTexts.all.map(\.code)

  func page(_ report: SampleReport, _ code: String = "en") throws -> ReportPage {
    ReportPage(report.contents, try #require(PageTexts.all.first { $0.code == code }))
  }

  func words(_ page: ReportPage, _ part: ReportPart) -> [String] {
    page.sheets(part, .a4).flatMap(\.boxes).flatMap { DrawingCheck.words($0.drawing) }
  }

  // MARK: - Drawing

  @Test(arguments: Seeds.share(of: languages, every: 2), SampleReport.Kind.allCases)
  func noTextOverlapsAnotherOrLeavesTheReportSheet(_ code: String, _ kind: SampleReport.Kind) throws {
    var report = SampleReport.of(kind)
    report.unit = code == "de" || code == "fr" ? .millimolesPerLitre : .milligramsPerDecilitre
    let page = try page(report, code)
    for paper in Paper.allCases {
      expectWhole(page, .summary, paper, "\(code) \(kind)")
      #expect(page.sheets(.summary, paper).count == 1)
    }
    for part in ReportPart.allCases where kind == .both || kind == .meter {
      expectWhole(page, part, .letter, "\(code) \(kind)")
    }
    // No head of a table and no figure of the summary is truncated.
    for part in [ReportPart.log, .days] {
      #expect(words(page, part).filter { $0.contains("…") } == [], "\(code) \(kind)")
    }
    #expect(words(page, .summary).filter { $0.contains("…") } == [], "\(code) \(kind)")
  }

  /// The first sheet lists the periods whose sensor values no source has any more, even if the report has no
  /// sensor values.
  @Test(arguments: Seeds.share(of: languages, every: 2), SampleReport.Kind.allCases)
  func theReportNamesTimesWithoutData(_ code: String, _ kind: SampleReport.Kind) throws {
    var report = SampleReport.of(kind)
    let day = SampleReport.start + 2 * 86400
    report.missing = [(7800, 24000), (80_000, 100_000), (200_000, 201_800)].map {
      MissingTime(from: DeviceTime(seconds: day + $0.0), until: DeviceTime(seconds: day + $0.1))
    }
    let page = try page(report, code)
    let text = PageTexts.fill(page.texts.missing, "2026-03-04 02:10–06:40 (+2)")
    func isNamed(_ page: ReportPage, _ text: String) -> Bool {
      words(page, .summary).joined(separator: " ").contains(text)
    }
    #expect(isNamed(page, text), "\(words(page, .summary))")
    for paper in Paper.allCases { expectWhole(page, .summary, paper, "\(code) \(kind)") }
    let all =
      "2026-03-04 02:10–06:40, 2026-03-04 22:13 – 2026-03-05 03:46, 2026-03-06 07:33–08:03"
    #expect(try page.html([.about]).contains(PageTexts.fill(page.texts.missing, all)))
    report.isAnonymised = true
    report.person = nil
    let unnamed = try self.page(report, code)
    let number = unnamed.name(ofDay: Int(day / 86400))
    #expect(number != "2026-03-04")
    #expect(isNamed(unnamed, PageTexts.fill(page.texts.missing, "\(number) 02:10–06:40 (+2)")))
    report.missing = []
    let start = try #require(page.texts.missing.split(separator: "{").first)
    #expect(!isNamed(try self.page(report, code), String(start)))
    #expect(try !self.page(report, code).html([.about]).contains(start))
  }

  @Test func everyPictureOfAReportIsValidXML() throws {
    let page = try page(.of(.both))
    for drawing in page.sheets(.summary, .a4).flatMap(\.boxes).map(\.drawing) {
      #expect(XMLCheck(drawing.svg).faults == [])
    }
  }

  private func expectWhole(_ page: ReportPage, _ part: ReportPart, _ paper: Paper, _ name: String) {
    let sheets = page.sheets(part, paper)
    for place in sheets.flatMap(\.places) {
      #expect(DrawingCheck.faults(place.drawing) == [], "\(name) \(part)")
      #expect(place.x + place.drawing.width <= Sheet.width + 0.1)
      #expect(place.y + place.drawing.height <= paper.room + 0.1, "\(name) \(paper) \(part)")
    }
    #expect(
      sheets.flatMap(\.boxes).reduce(0) { $0 + DrawingCheck.openParts($1.drawing) } == 0, "\(name) \(part)")
  }

  @Test(arguments: UInt64(1)...5) func reportSheetsOfRandomDaysAreComplete(_ seed: UInt64) throws {
    var walk = RandomWalk(seed: seed)
    var report = SampleReport(days: Int64(walk.number(1...20)))
    let seconds = report.days * 86400
    let times = (0..<walk.number(1...400)).map { _ in Int64(walk.number(0...Int(seconds) - 1)) }.sorted()
    report.readings = times.map { time in
      let marks = [ReadingMarks.beforeMeal, .afterMeal, .bedtime, .fasting, []][walk.number(0...4)]
      return walk.happens(onceIn: 3)
        ? Reading.finger(walk.number(10...1000), at: SampleReport.start + time, marks: marks)
        : Reading.sensor(walk.next(step: 120), at: SampleReport.start + time)
    }
    report.records = times.prefix(60).map { time in
      let fields = ["units": FieldValue.number(Double(walk.number(0...400)) / 10), "subtype": .text("rapid")]
      return (.insulin, RecordFields(fields), DeviceTime(seconds: SampleReport.start + time).text)
    }
    report.unit = Self.units[walk.number(0...1)]
    report.isAnonymised = walk.happens(onceIn: 3)
    report.targets = [.standard, .older, .pregnancy][walk.number(0...2)]
    let page = try page(report, Self.languages[walk.number(0...3)])
    for part in ReportPart.allCases {
      for box in page.sheets(part, .letter).flatMap(\.boxes) {
        #expect(DrawingCheck.faults(box.drawing) == [], "\(part)")
      }
    }
  }

  /// A day may have more values than one sheet has lines, and a note may have more words than fit on one
  /// sheet.
  @Test func aTableRowTallerThanASheetContinuesOnTheNext() throws {
    var report = SampleReport(days: 2)
    report.readings = (0..<Int64(600)).map {
      Reading.finger(100 + Int($0 % 40), at: SampleReport.start + 43_200 + $0)
    }
    let page = try page(report)
    for paper in Paper.allCases {
      expectWhole(page, .log, paper, "600 sticks")
      let sheets = page.sheets(.log, paper)
      let values = sheets.flatMap(\.boxes).flatMap { DrawingCheck.words($0.drawing) }.filter {
        Int($0) != nil
      }
      #expect(sheets.count > 1 && values.count == 600)
    }
    report = SampleReport.usual
    let words = (0..<9000).map { "w\($0)" }
    report.records = [
      (.note, RecordFields(["text": .text(words.joined(separator: " "))]), "2026-03-02T10:00")
    ]
    let long = try self.page(report)
    expectWhole(long, .single, .a4, "a long note")
    let shown = self.words(long, .single).joined(separator: " ").split(separator: " ")
    #expect(Set(words).isSubset(of: Set(shown.map(String.init))))
  }

  @Test func theShareOfBasalInsulinNeedsBasalAndBolusOnEachDay() throws {
    var report = SampleReport(days: 2)
    func dose(_ units: Double, _ subtype: String, _ time: String) {
      let fields = RecordFields(["units": .number(units), "subtype": .text(subtype)])
      report.records.append((.insulin, fields, time))
    }
    for day in ["2026-03-02", "2026-03-03"] {
      dose(12, "long", day + "T08:00")
      dose(20, "rapid", day + "T12:00")
    }
    let line = try #require(try page(report, "en").amountsBox.map(DrawingCheck.words)?.first)
    #expect(line.contains("(basal 12.0 U, bolus 20.0 U, basal : bolus 38 : 62)"))
    // A dose of an unknown insulin may be basal insulin.
    let typed = report.records
    report.records[1].1["subtype"] = nil
    let unknown = try #require(try page(report, "en").amountsBox.map(DrawingCheck.words)?.first)
    #expect(unknown.contains("(basal 12.0 U, bolus or unknown use 20.0 U)"), "\(unknown)")
    for part in [ReportPart.log, .days] {
      let text = try self.words(page(report, "en"), part).joined(separator: " ")
      #expect(text.contains("Bolus?"), "\(part)")
    }
    report.records = typed
    for part in [ReportPart.log, .days] {
      let text = try self.words(page(report, "en"), part).joined(separator: " ")
      #expect(text.contains("Bolus") && !text.contains("Bolus?"), "\(part)")
    }
    // Without a basal dose on one day, no share is shown, because the person may have forgotten to write that
    // dose down.
    report.records.removeFirst()
    let other = try #require(try page(report, "en").amountsBox.map(DrawingCheck.words)?.first)
    #expect(other.contains("basal 12.0 U") && !other.contains(" : "))
  }

  @Test func premixedInsulinIsShownOnTheSheetsOfDays() throws {
    var report = SampleReport.usual
    for time in ["2026-03-03T08:00", "2026-03-03T18:00"] {
      report.records.append(
        (.insulin, RecordFields(["units": .number(24), "subtype": .text("mix")]), time))
    }
    let page = try page(report)
    for part in [ReportPart.log, .days] {
      let words = words(page, part)
      #expect(words.contains { $0.hasPrefix("48") && $0.hasSuffix("*") }, "\(part): \(words)")
      #expect(words.joined(separator: " ").contains("* premixed"), "\(part)")
    }
    #expect(!self.words(try self.page(.usual), .log).contains { $0.contains("premixed") })
  }

  @Test func valuesOutsideTheRangeOfAMeterAreShownAsTheMeterShowedThem() throws {
    var report = SampleReport(days: 14)
    report.readings = (0..<Int64(40)).map {
      Reading.finger(150, at: SampleReport.start + $0 * 3600, marks: .beforeMeal)
    }
    #expect(words(try page(report), .summary).contains("150–150 mg/dL"))
    report.readings[3] = Reading.of(
      .smbg, .low(below: nil, .milligramsPerDecilitre), at: SampleReport.start + 3 * 3600, 9, .beforeMeal)
    report.readings[4] = Reading.of(
      .smbg, .high(above: nil, .milligramsPerDecilitre), at: SampleReport.start + 4 * 3600, 9, .beforeMeal)
    let page = try page(report)
    let words = words(page, .summary)
    #expect(words.contains("LO–HI mg/dL") && words.contains("LO, HI: 2"), "\(words)")
    #expect(words.contains("LO") && words.contains("HI"))
    // Since 2 of 40 readings are LO or HI, the mean is only a bound. The page with all figures states this,
    // too.
    #expect(words.contains { $0.hasSuffix("mg/dL, bounded") }, "\(words)")
    let about = try page.html([.about])
    for text in ["Lowest</th><td>LO mg/dL", "Highest</th><td>HI mg/dL", "Median</th><td>150 mg/dL"] {
      #expect(about.contains(text), "\(text)")
    }
    #expect(about.contains("mg/dL, bounded</td>"))
  }

  @Test(
    arguments: [
      (0.5, 0, 3, 4, "HI"), (0.5, 3, 0, 4, "LO"), (0.5, 0, 2, 4, "150 or higher"),
      (0.5, 2, 0, 4, "150 or lower"), (0.5, 2, 2, 4, "150, bounded"), (0.5, 1, 1, 4, "150"),
      (0, 1, 0, 4, "LO"), (0, 0, 3, 4, "150"), (0, 0, 4, 4, "HI"), (1, 0, 1, 4, "HI"), (1, 4, 0, 4, "LO"),
      (0.75, 0, 1, 5, "150"), (0.75, 0, 2, 5, "HI"),
    ] as [(Double, Int, Int, Int, String)])
  func aPercentileThatIsLOOrHIIsShownInWords(
    _ part: Double, _ lows: Int, _ highs: Int, _ count: Int, _ text: String
  ) throws {
    #expect(try page(.usual).ranked(150, at: part, (lows, highs, count)) == text)
    #expect(try page(.usual).ranked(nil, at: part, (lows, highs, count)) == "—")
  }

  /// The boxes of the logbook cover at most 366 days, and this period has 400.
  @Test func boxesThatCoverOnlyTheLastDaysOfALongPeriodStateTheNumber() throws {
    var report = SampleReport(days: 400)
    report.readings = (0..<Int64(400)).map {
      Reading.finger(150, at: SampleReport.start + $0 * 86_400 + 3600, marks: .fasting)
    }
    let contents = report.contents
    let long = ReportPage(
      ReportContents(
        result: contents.result, days: Array(contents.days.suffix(ReportContents.maxLogDays)), devices: [],
        targets: .standard, unit: .milligramsPerDecilitre, zone: "UTC", dates: contents.dates, device: nil,
        version: "1.2.3", isAnonymised: false), .english)
    #expect(words(long, .summary).filter { $0.contains("the last 366 days") }.count == 2)
    let log = words(long, .log)
    #expect(log.contains("Logbook of finger sticks · 2026-04-05 – 2027-04-05"), "\(log.prefix(20))")
    #expect(log.joined(separator: " ").contains("are those of the last 366 days of the period."))
    report.days = 120
    report.readings = Array(report.readings.prefix(120))
    let short = try page(report)
    #expect(!words(short, .summary).contains { $0.contains("the last 366 days") })
    // No value of the period is left out.
    #expect(words(short, .log).filter { $0 == "150" }.count == 120)
    #expect(words(short, .log).contains("Logbook of finger sticks · 2026-03-02 – 2026-06-29"))
  }

  @Test func meanAmountsOfFewDaysStateTheNumberOfDays() throws {
    var report = SampleReport.usual
    report.records = (2...15).flatMap { day -> [(kind: RecordKind, fields: RecordFields, time: String)] in
      let date = "2026-03-\(day < 10 ? "0" : "")\(day)"
      return [
        (.insulin, RecordFields(["units": .number(20), "subtype": .text("long")]), "\(date)T22:00"),
        (.insulin, RecordFields(["units": .number(10), "subtype": .text("rapid")]), "\(date)T12:00"),
      ]
    }
    let full = try #require(try self.page(report).amountsBox)
    #expect(
      DrawingCheck.words(full) == [
        "Per day: Insulin 30.0 U (basal 20.0 U, bolus 10.0 U, basal : bolus 67 : 33) · Finger sticks 2.9"
      ])
    report.records.append(
      (.insulin, RecordFields(["units": .number(28), "subtype": .text("mix")]), "2026-03-09T07:00"))
    report.records.append((.food, RecordFields(["carbs": .number(90)]), "2026-03-09T07:00"))
    report.records.sort { $0.time < $1.time }
    let page = try page(report)
    let text = DrawingCheck.words(try #require(page.amountsBox)).joined(separator: " ")
    #expect(
      text.hasPrefix("Per day: Insulin 32.0 U (basal 20.0 U, bolus 10.0 U, premixed 28.0 U on 1 of 14 days)"))
    #expect(text.contains("Carbohydrates 90.0 g on 1 of 14 days"), "\(text)")
    let rows = page.sheets(.days, .a4).flatMap(\.boxes).flatMap { DrawingCheck.rows($0.drawing) }.map { row in
      row.filter { !$0.isEmpty }
    }
    let means = try #require(rows.firstIndex { $0.first == "Mean" })
    #expect(rows[means].suffix(5) == ["10.0 28.0*", "20.0", "32.0", "90.0", "2.9"])
    #expect(rows[means + 1] == ["Days", "14 1*", "14", "14", "1", "14"], "\(rows[means + 1])")
  }

  @Test(arguments: languages) func theAmountsOfADayAreNeverTruncatedOnASheet(_ code: String) throws {
    var report = SampleReport.of(.both)
    for (index, subtype) in ["rapid", "long", "mix"].enumerated() {
      report.records.append(
        (
          .insulin, RecordFields(["units": .number(1234.5), "subtype": .text(subtype)]),
          "2026-03-0\(index + 4)T07:00"
        ))
    }
    report.records.append((.food, RecordFields(["servings": .number(12)]), "2026-03-09T07:00"))
    let page = try page(report, code)
    let box = try #require(page.amountsBox)
    let words = DrawingCheck.words(box)
    #expect(words.count > 1 && !words.contains { $0.contains("…") } && DrawingCheck.faults(box) == [])
    for paper in Paper.allCases { expectWhole(page, .summary, paper, code) }
  }

  @Test func aReportNamesTheGoalsForPregnancyOrOlderPeople() throws {
    var report = SampleReport.usual
    report.targets = .pregnancy
    #expect(words(try page(report), .summary).contains { $0.contains("pregnancy with type 1") })
    report.targets = .older
    #expect(words(try page(report), .summary).contains { $0.contains("older people") })
  }

  @Test func overlappingOrOverflowingTextIsFoundByTheDrawingCheck() {
    var drawing = Drawing(width: 100, height: 50)
    drawing.text("one", 10, 20)
    drawing.text("two", 12, 22)
    drawing.text("far", 95, 40)
    drawing.line(0, 0, 101, 10, Drawing.Stroke(ink: .line))
    drawing.begin(.table)
    #expect(DrawingCheck.faults(drawing).count == 3 && DrawingCheck.openParts(drawing) == 1)
  }

  // MARK: - Figures

  @Test func theReportShowsTheFiguresOfTheStatistics() throws {
    let report = SampleReport.usual
    let page = try page(report)
    let words = words(page, .summary)
    // In this test series, 171, 181, 2514, 1067 and 99 of 4032 samples are in the five ranges, the lowest
    // first.
    for text in [
      "2.5\u{A0}%", "26.5\u{A0}%", "28.9\u{A0}%", "62.3\u{A0}%", "8.7\u{A0}%", "4.5\u{A0}%", "4.2\u{A0}%",
    ] {
      #expect(words.filter { $0 == text }.count == 1, "\(text): \(words)")
    }
    #expect(words.contains("148 mg/dL") && words.contains("36.2 %") && words.contains("6.9 % (51 mmol/mol)"))
    #expect(words.contains { $0.contains("100.0 %") && $0.contains("14 of 14 days with readings") })
  }

  @Test func noGoalIsShownForTheLowOrHighRangeByItself() throws {
    let box = try page(.usual).rangesBox(height: 196)
    let rows = DrawingCheck.rows(box)
    #expect(rows.first == ["Range", "%", "Per day", "Goal"])
    let goals = Dictionary(uniqueKeysWithValues: rows.dropFirst().map { ($0[0], $0.count > 3 ? $0[3] : "") })
    #expect(goals["low"] == "" && goals["high"] == "")
    #expect(goals["low + very low"] == "<\u{A0}4\u{A0}%" && goals["high + very high"] == "<\u{A0}25\u{A0}%")
    #expect(goals["very low"] == "<\u{A0}1\u{A0}%" && goals["target"] == ">\u{A0}70\u{A0}%")
  }

  @Test func withPregnancyTargetsTheHighRangeIsNotSplit() throws {
    var report = SampleReport.usual
    report.targets = .pregnancy
    let rows = DrawingCheck.rows(try page(report).rangesBox(height: 196))
    #expect(
      rows.dropFirst().map { $0[0] } == [
        "high", "target", "low + very low", "low", "very low", "tight range 70–140",
      ])
    #expect(rows[1][3] == "<\u{A0}25\u{A0}%")
  }

  @Test func aDailyProfileOfOneReadingStatesThatDaysAreMissing() throws {
    var report = SampleReport.usual
    report.readings = [Reading.sensor(120, at: SampleReport.start + 8 * 3600)]
    let words = words(try page(report), .summary)
    #expect(words.contains { $0.hasPrefix("Too few data: 0 of 7 days needed, ") }, "\(words)")
  }

  @Test func aPeriodLongerThan90DaysIsNotReportedAsTooFewData() throws {
    let page = try page(.usual)
    #expect(page.reason(.longPeriod(days: 100)) == "100 days; needs 90 or fewer")
    #expect(page.reason(.noReadings) == "No readings")
    #expect(page.reason(.littleTime(percent: 7.9)) == "Too few data: 7 % of the time; needs 70 %")
  }

  @Test func aReportBoxWithoutDataShowsTheReason() throws {
    var report = SampleReport.usual
    report.readings = Array(report.readings.prefix(288))
    let words = words(try page(report), .summary)
    #expect(
      words.contains("Too few data: 7 % of the time; needs 70 %")
        && words.contains("Too few data: 1 of 7 days needed, 100 % of the time"))
    #expect(words.contains("Goals: — (1 of 14 days needed, 7 % of the time)"))
    let empty = self.words(try page(SampleReport()), .summary)
    // Three boxes and three figures of the summary show this reason.
    #expect(empty.filter { $0 == "No readings" }.count == 6)
  }

  @Test func theTextForScreenReadersHasEveryFigureOfADrawnTable() throws {
    let page = try page(.of(.both))
    for part in [ReportPart.summary, .days, .log] {
      for drawing in page.sheets(part, .a4).flatMap(\.boxes).map(\.drawing) {
        var depth = 0
        for operation in drawing.operations {
          switch operation {
          case .begin(.figure): depth += 1
          case .begin where depth > 0: depth += 1
          case .end where depth > 0: depth -= 1
          case .text(let text) where depth == 0:
            #expect(drawing.reading.contains(Markup(text.text).description), "\(text.text)")
          default: break
          }
        }
      }
    }
  }

  @Test(arguments: [
    (100.0, Units.milligrams, 250.0), (262, .milligrams, 300), (399, .milligrams, 450),
    (600, .milligrams, 650), (3000, .milligrams, 650),
    (100, .millimoles, 14), (270, .millimoles, 16), (600, .millimoles, 36), (3000, .millimoles, 36),
  ])
  func theGlucoseScaleOfAReportFitsTheData(_ highest: Double, _ unit: Units, _ end: Double) {
    let factor = unit == .milligrams ? 1 : Quantity.milligramsPerDecilitreInMillimole
    #expect(
      abs(
        PlotArea.end(highest, unit == .milligrams ? .milligramsPerDecilitre : .millimolesPerLitre) - end
          * factor) < 0.01)
  }

  enum Units { case milligrams, millimoles }

  @Test(arguments: languages) func theReportShowsTheLowEpisodesOfTheStatistics(_ code: String) throws {
    let page = try page(.of(.sensor), code)
    let episodes = page.total.sensor.episodes[.low]
    try #require(episodes.count > 0 && episodes.atNight > 0)
    let words = words(page, .summary)
    let label = try #require(words.firstIndex(of: page.texts.sheet.lowEpisodes))
    let minutes = page.glucose.decimal(try #require(episodes.meanMinutes), 0)
    #expect(words[label + 1] == "\(episodes.count)")
    let note = PageTexts.fill(page.texts.sheet.lowEpisodesNote, minutes, "\(episodes.atNight)")
    #expect(words[label + 2] == note)
  }

  /// Every picture of days has room for the highest value. Only meters show values far above 400 mg/dL.
  @Test(arguments: [true, false]) func glucoseValuesAbove400AreDrawnAtTheirPositions(_ hasSensor: Bool) throws
  {
    let sticks = [580, 500].enumerated().map {
      Reading.finger($1, at: SampleReport.start + 50_000 + Int64($0) * 3600)
    }
    let sensor = hasSensor ? Array(SampleReport.usual.readings.prefix(288)) : []
    let readings = (sensor + sticks).sorted { $0.instant < $1.instant }
    let page = try page(SampleReport(readings: readings, records: SampleReport.usual.records, days: 1))
    let drawings = [ReportPart.summary, .days, .single].flatMap { page.sheets($0, .a4) }.flatMap(\.boxes)
    let dots = drawings.map { box in
      box.drawing.operations.compactMap { operation -> Double? in
        if case .circle(_, let y, _, .some(.text), _) = operation { y } else { nil }
      }.sorted()
    }.filter { !$0.isEmpty }
    // The dots are in the thumbnail, the strip and the separate picture of the day. Without a sensor, they
    // are also in the picture of all finger sticks.
    #expect(dots.count == (hasSensor ? 3 : 4) && dots.allSatisfy { $0.count == 2 && $0[1] - $0[0] > 1 })
  }

  // MARK: - Which parts

  @Test func theAvailableDataDetermineThePartsOfAReport() throws {
    #expect(try page(.of(.sensor)).usualParts == [.summary])
    #expect(try page(.of(.meter)).usualParts == [.summary, .log])
    #expect(try page(.of(.both)).usualParts == [.summary, .days, .log])
    #expect(try page(SampleReport()).usualParts == [.summary])
    #expect(try page(.of(.both)).allParts == ReportPart.allCases)
  }

  /// A screen reader reads the sentence of the bar, so the sentence must not state times for finger sticks.
  @Test func theRangeBarOfFingerSticksShowsPercentOfReadings() throws {
    let reading = try page(.of(.meter)).stickRangesBox(height: 160).reading
    #expect(reading.contains("<p>Percent of readings: very high ") && !reading.contains("Time in ranges"))
    #expect(try page(.of(.sensor)).rangesBox(height: 196).reading.contains("<p>Time in ranges: very high "))
  }

  @Test func aReportOfOnlyAMeterHasNoTableOfSensorFigures() throws {
    let meter = try page(.of(.meter)).html([.single])
    #expect(!meter.contains("The days in figures") && meter.contains("<h3>Monday 2026-03-02</h3>"))
    #expect(try page(.of(.both)).html([.single]).contains("The days in figures"))
  }

  @Test func aReportOfOnlyAMeterHasNoTimeFigures() throws {
    let words = words(try page(.of(.meter)), .summary)
    #expect(words.contains("Percent of readings") && words.contains("Finger sticks by meals"))
    #expect(!words.contains("GMI") && !words.contains("Time in ranges") && !words.contains("Goal"))
  }

  @Test func theNameOfThePersonIsOnTheSheetAndInTheTitle() throws {
    var report = SampleReport.usual
    report.person = ReportPerson(name: "Ágnes <Őry>", born: "1984-03-02")
    let named = try page(report)
    #expect(
      words(named, .summary).contains("Ágnes <Őry>") && words(named, .summary).contains("Born 1984-03-02"))
    let html = try named.html()
    #expect(html.contains("<title>Ágnes &lt;Őry&gt; · Glucose report · 2026-03-02 – 2026-03-15</title>"))
    #expect(words(try page(.usual), .summary).contains("Name"))
    report.person = ReportPerson(name: String(repeating: "long name ", count: 30))
    #expect(DrawingCheck.faults(try page(report).personBox) == [])
  }

  @Test func aLongNameIsCompleteInTheHeaderAndThePeriodStaysInTheFooter() throws {
    var report = SampleReport.usual
    let name = "María del Carmen Fernández-Rodríguez y Gutiérrez de los Santos Ortiz Echevarría"
    report.person = ReportPerson(name: name, born: "1984-03-02")
    let page = try page(report)
    let head = page.personBox
    #expect(DrawingCheck.faults(head) == [])
    #expect(DrawingCheck.words(head).joined(separator: " ").contains(name), "\(DrawingCheck.words(head))")
    report.person = ReportPerson(name: name + name + name)
    let foot = DrawingCheck.words(try self.page(report).foot(1, of: 2))
    #expect(foot.count == 2 && foot[0].contains("… · Glucose report · 2026-03-02 – 2026-03-15 · glucoport"))
  }

  @Test func theDeviceOfTypedReadingsIsNamedInTheReportLanguage() throws {
    var report = SampleReport.usual
    report.devices = [ReportDevice(name: Device.typed.model, serialNumber: "")]
    let german = try page(report, "de")
    #expect(words(german, .summary).contains("Geräte: von Hand eingegeben"))
    #expect(try german.html([.about]).contains("<th scope=\"row\">von Hand eingegeben</th>"))
  }

  @Test func theReportShowsTheEnergyOfFood() throws {
    var report = SampleReport.usual
    report.records = [(.food, RecordFields(["energy": .number(500)]), "2026-03-02T19:40")]
    #expect(try page(report).html([.single]).contains("<td>Food 500 kcal</td>"))
  }

  @Test func withTooFewDataTheMeanHasNoGoal() throws {
    func goals(_ samples: Int) throws -> [String] {
      var report = SampleReport.usual
      report.readings = Array(report.readings.filter { $0.kind == .cbg }.prefix(samples))
      report.days = Int64(samples / 288)
      return DrawingCheck.words(try page(report).summaryBox(height: 196)).filter { $0.hasPrefix("Goal ") }
    }
    #expect(try goals(2 * 288) == ["Goal > 70 %"])
    #expect(
      try goals(14 * 288) == [
        "Goal < 154 mg/dL", "Goal < 7 %", "Goal ≤ 36 % · Standard deviation 54 mg/dL", "Goal > 70 %",
      ])
  }

  @Test func anAnonymisedPageHasNoNameNoSerialNumberAndNoDate() throws {
    var report = SampleReport.of(.both)
    (report.isAnonymised, report.person) = (true, ReportPerson(name: "Ada Example", born: "1984-03-02"))
    let page = try page(report)
    for text in [
      try page.html(ReportPart.allCases),
      ReportPart.allCases.flatMap { words(page, $0) }.joined(separator: "\n"),
    ] {
      #expect(!text.contains("Ada") && !text.contains("SN-1") && !text.contains("a walk"))
      #expect(text.firstMatch(of: /20\d\d-\d\d|\d\d-\d\d</) == nil)
      #expect(text.contains("Day 14"))
    }
  }

  @Test func thePDFHasEachSheetWithItsFooter() throws {
    let page = try page(.of(.both))
    let (bytes, missing) = page.pdf([.summary, .log], .letter)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.ranges(of: "/Type/Page/").count == 2 && text.contains("/MediaBox[0 0 612 792]") && missing == [])
    #expect(page.pdf([.summary, .log], .letter).bytes == bytes)
    var named = SampleReport.usual
    named.person = ReportPerson(name: "李")
    #expect(try self.page(named).pdf([.summary], .a4).missing == ["李"])
  }
}
