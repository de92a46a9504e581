// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

/// Tests the page of a report.
struct PageTests {
  /// The names of all start tags on a page.
  private func elements(_ html: String) -> [String] {
    html.matches(of: /<([a-zA-Z!][a-zA-Z0-9]*)/).map { String($0.1) }
  }

  private func count(_ text: String, in html: String) -> Int { html.ranges(of: text).count }

  // MARK: - Safety

  @Test(arguments: PageTexts.all.map(\.code))
  func thePageHasNoScriptAndFetchesNothing(_ code: String) throws {
    let texts = try #require(PageTexts.all.first { $0.code == code })
    let html = try SampleReport.usual.html(texts)
    for word in ["<script", "http:", "https:", "//", " src=", " href=", "@import", "url(h", "<a "] {
      #expect(!html.contains(word), "\(word)")
    }
    #expect(html.firstMatch(of: /\ on[a-z]+=/) == nil && !html.contains(" style="))
    #expect(html.contains("content=\"default-src 'none'; style-src 'sha256-"))
    #expect(html.contains("<html lang=\"\(code)\">"))
  }

  @Test func theContentSecurityPolicyHasTheDigestOfTheStylesheet() throws {
    let html = try SampleReport().html()
    let style = try #require(html.firstMatch(of: /<style>([^<]*)<\/style>/)).1
    let digest = try #require(html.firstMatch(of: /'sha256-([^']*)'/)).1
    var own = Digest()
    own.update(String(style))
    #expect(digest.count == 44 && digest.hasSuffix("="))
    #expect(Base64.bytes(String(digest)) == own.bytes())
  }

  @Test func hostileTextIsEscapedInThePage() throws {
    var report = SampleReport.usual
    report.device = "SN-1"
    let clean = try report.html()
    let hostile =
      "</td></table><script>alert(1)</script><img src=x onerror=alert(1)>\" ' & \u{202E}\u{1B}\u{0}"
    report.records[2].fields = RecordFields(["text": .text(hostile)])
    report.devices = [ReportDevice(name: hostile, serialNumber: "<b>'\"&")]
    report.device = hostile
    let html = try report.html()
    #expect(elements(html) == elements(clean) && count("<", in: html) == count("<", in: clean))
    #expect(html.contains("&lt;/td&gt;&lt;/table&gt;&lt;script&gt;alert(1)&lt;/script&gt;"))
    for scalar in ["\u{202E}", "\u{1B}", "\u{0}"] {
      #expect(!html.unicodeScalars.contains(scalar.unicodeScalars.first ?? " "))
    }
    #expect(html.contains("\u{FFFD}\u{FFFD}\u{FFFD}"))
  }

  @Test(arguments: [
    ("a < b & c > \"d\" 'e'", "a &lt; b &amp; c &gt; &quot;d&quot; &#39;e&#39;"),
    ("<\u{338}b>", "&lt;\u{338}b&gt;"), ("\"\u{301}x", "&quot;\u{301}x"), ("a\nb\tc", "a b c"),
    ("\u{2066}a\u{2069}\u{200F}\u{7F}\u{9B}", "\u{FFFD}a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("é 猫 👩‍🍳", "é 猫 👩‍🍳"),
  ])
  func specialCharactersAreEscapedInHTML(_ text: String, _ markup: String) {
    #expect(Array(Markup(text).description.unicodeScalars) == Array(markup.unicodeScalars))
  }

  // MARK: - Contents

  @Test func theMedicalDeviceNoticePrecedesAllOtherContents() throws {
    let html = try SampleReport.usual.html()
    let notice = try #require(html.firstRange(of: "<p class=\"notice\">Not a medical device"))
    let section = try #require(html.firstRange(of: "<section"))
    #expect(notice.lowerBound < section.lowerBound && !html.contains("AGP"))
    let sheet = try ReportPage(SampleReport.usual.contents, .english).html()
    #expect(sheet.contains("<p>Not a medical device, not a diagnosis.") && !sheet.contains("AGP"))
  }

  @Test func allSectionsOfTheReportAreInOrder() throws {
    let html = try SampleReport.usual.html()
    let anchors = html.matches(of: /<section id="([a-z-]+)"/).map { String($0.1) }
    #expect(
      anchors == ["days", "ranges", "sensor", "profile", "sticks", "amounts", "devices", "left-out", "about"])
    // Each of the 14 days has a picture, and another one for phones. Each picture has a text for screen
    // readers.
    #expect(
      count("<svg aria-hidden=\"true\"", in: html) == 28 && count("<div class=\"reading\">", in: html) == 28)
    let ids = html.matches(of: /\ id="([^"]+)"/).map { String($0.1) }
    #expect(Set(ids).count == ids.count)
    #expect(
      html.contains("4.5 U rapid-acting") && html.contains("Note a walk") && html.contains("glucoport 1.2.3"))
  }

  @Test func everyTableOfTheReportHasACaptionAndHeaders() throws {
    let html = try SampleReport.usual.html()
    let tables = html.components(between: "<table", and: "</table>")
    #expect(tables.count > 8)
    for table in tables {
      #expect(count("<caption>", in: table) == 1)
      let columns = count("scope=\"col\"", in: table)
      let rows = table.components(between: "<tr>", and: "</tr>").dropFirst()
      #expect(columns > 0 && !rows.isEmpty)
      for row in rows {
        #expect(count("scope=\"row\"", in: row) == 1 && count("<td>", in: row) == columns - 1, "\(row)")
      }
    }
    let headings = html.matches(of: /<h([1-6])>/).compactMap { Int($0.1) }
    #expect(headings.first == 1 && headings.filter { $0 == 1 }.count == 1)
    #expect(zip(headings, headings.dropFirst()).allSatisfy { $1 <= $0 + 1 })
  }

  @Test func aReportWithoutReadingsStatesThatThereAreNone() throws {
    let html = try SampleReport().html()
    let anchors = html.matches(of: /<section id="([a-z-]+)"/).map { String($0.1) }
    #expect(anchors == ["ranges", "devices", "left-out", "about"])
    #expect(html.contains("<p>— (No readings)</p>") && html.contains("No readings were left out."))
  }

  @Test func aPageOfOnlyFingerSticksShowsNoTimeStatistics() throws {
    let sticks = (0..<Int64(40)).map { Reading.finger(Int(60 + $0 * 5), at: SampleReport.start + $0 * 21600) }
    let html = try SampleReport(readings: sticks).html()
    let anchors = html.matches(of: /<section id="([a-z-]+)"/).map { String($0.1) }
    #expect(anchors == ["days", "ranges", "sticks", "devices", "left-out", "about"])
    #expect(!html.contains("(GMI)") && !html.contains("(GRI)") && html.contains("Percent of readings"))
    #expect(count("<circle class=\"f-text s-paper\"", in: html) == 2 * 40)
  }

  @Test func theDayTableDoesNotListBasalRates() throws {
    var report = SampleReport.usual
    let rate = RecordFields(["rate": .number(1), "minutes": .number(60), "subtype": .text("basal")])
    report.records.append((.insulin, rate, "2026-03-03T08:00"))
    let html = try report.html()
    #expect(!html.contains("1 U/h 60 min") && html.contains("<th scope=\"row\">basal</th><td>1 U</td>"))
    #expect(html.contains("Area at the foot: basal rate of a pump, at most 1 U/h."))
    #expect(try !SampleReport.usual.html().contains("basal rate of a pump"))
    report.records[3].fields["text"] = .text("by hand")
    #expect(try report.html().contains("1 U/h 60 min basal by hand"))
  }

  @Test func aPageShowsLinksToOtherDaysOnlyIfGiven() throws {
    var contents = SampleReport.usual.contents
    #expect(try !ReportPage(contents, .english).html().contains("<nav"))
    contents.links = [
      ReportLink(.earlier, target: "?last=2026-03-01&days=1"), ReportLink(.days(1), target: "?days=1"),
      ReportLink(.days(14), target: "?days=14", isCurrent: true),
      ReportLink(.day("2026-03-02"), target: "?\"<"),
    ]
    let html = try ReportPage(contents, .german).html()
    let navigation = html.components(between: "<nav", and: "</nav>")
    #expect(
      navigation == [
        " aria-label=\"Andere Tage\"><ul>"
          + "<li><a href=\"?last=2026-03-01&amp;days=1\">Früher</a></li><li><a href=\"?days=1\">1 Tag</a></li>"
          + "<li><a href=\"?days=14\" aria-current=\"page\">14 Tage</a></li>"
          + "<li><a href=\"?&quot;&lt;\">2026-03-02</a></li></ul>"
      ])
  }

  @Test func recordsOfOneMinuteAreOneRowOfTheDayTable() throws {
    var report = SampleReport.usual
    #expect(
      try report.html().contains(
        "<th scope=\"row\">08:00</th><td>Food 45 g · Insulin 4.5 U rapid-acting</td>"))
    report.records[1].time = "2026-03-02T08:01"
    let apart = try report.html()
    #expect(apart.contains("<th scope=\"row\">08:00</th><td>Insulin 4.5 U rapid-acting</td>"))
    #expect(apart.contains("<th scope=\"row\">08:01</th><td>Food 45 g</td>"))
  }

  @Test func aScrollablePictureIsNamedAndReachableByKeyboard() throws {
    let html = try SampleReport.usual.html()
    let regions = html.matches(of: /<div class="picture broad"([^>]*)><svg/)
    #expect(regions.count == 14)
    for region in regions {
      #expect(region.1.contains("tabindex=\"0\" role=\"group\" aria-label=\""), "\(region.1)")
    }
    // The pictures for a phone do not scroll, so they need no name.
    #expect(count("<div class=\"picture narrow\"><svg", in: html) == 14)
  }

  @Test func theReportCountsReadingsThatAreLeftOut() throws {
    var report = SampleReport.usual
    report.readings += [
      Reading.finger(400, at: SampleReport.start + 14 * 86400 - 1, marks: .controlSolution),
      Reading.finger(400, at: SampleReport.start + 14 * 86400 - 1, marks: .doubtfulTime),
    ]
    let html = try report.html()
    #expect(html.contains("<th scope=\"row\">control solution</th><td>1</td>"))
    #expect(html.contains("<th scope=\"row\">doubtful time</th><td>1</td>"))
    #expect(!html.contains("calibration of a sensor"))
  }

  @Test func aStatisticWithTooFewDataShowsTheReasonInsteadOfANumber() throws {
    var report = SampleReport.usual
    report.readings = Array(report.readings.prefix(288))
    let html = try report.html()
    #expect(html.contains("<p>— (7 % of the time; needs 70 %)</p>"))
    #expect(html.contains("(GMI)</th><td>— (1 of 14 days needed, 7 % of the time)</td>"))
    let german = try report.html(.german)
    #expect(german.contains("(GMI)</th><td>— (1 von 14 nötigen Tagen, 7 % der Zeit)</td>"))
  }

  @Test func aReportInMillimolesShowsNoOtherGlucoseUnit() throws {
    var report = SampleReport.usual
    report.unit = .millimolesPerLitre
    let html = try report.html(.german)
    #expect(
      html.contains("3,9–10,0 mmol/L") && html.contains("<td>8,2 mmol/L</td>") && !html.contains("mg/dL"))
  }

  @Test func anAnonymisedPageHasNoSerialNumbersNamesAndNotes() throws {
    var report = SampleReport.usual
    report.device = "SN-1"
    report.devices += [ReportDevice(name: "Vendor Meter", serialNumber: "SN-2")]
    let whole = try report.html()
    #expect(!whole.contains("SN-2") && whole.contains("a walk") && whole.contains("Only the device SN-1;"))
    report.isAnonymised = true
    let html = try report.html()
    #expect(!html.contains("SN-") && !html.contains("a walk") && count("Vendor Meter", in: html) == 1)
    #expect(
      !html.contains("2026-03-") && html.contains("Monday Day 1")
        && html.contains("Names, serial numbers, notes and dates are left out."))
  }

  // MARK: - Size and repeatability

  @Test func aReportOfNinetyDaysIsUnderFourMegabytes() throws {
    let html = try SampleReport.long(90).html()
    #expect(html.utf8.count < 4_000_000 && count("class=\"n s-curve\"", in: html) == 2 * 90)
  }

  @Test func onlyTheLast90DaysOfAReportHaveACurve() throws {
    let html = try SampleReport.long(100).html()
    #expect(count("class=\"n s-curve\"", in: html) == 2 * 90)
    #expect(html.contains("show the last 90 days of the period."))
    #expect(!html.contains("<h3>Monday 2026-03-02") && html.contains("<h3>Tuesday 2026-06-09"))
  }

  @Test func equalReportContentsGiveEqualBytes() throws {
    let first = try SampleReport.usual.html()
    for _ in 0..<5 { #expect(try SampleReport.usual.html() == first) }
    #expect(try SampleReport.usual.html(.french) != first)
  }

  // MARK: - Languages

  /// The texts of a language by name.
  private func table(_ texts: PageTexts) -> [String: String] {
    var table: [String: String] = [:]
    for (name, value) in Mirror(reflecting: texts).children {
      if let name, let text = value as? String { table[name] = text }
    }
    for (name, value) in Mirror(reflecting: texts.sheet).children {
      if let name, let text = value as? String { table["sheet.\(name)"] = text }
    }
    return table
  }

  @Test func everyReportLanguageHasEveryText() throws {
    #expect(PageTexts.all.map(\.code) == ["en", "de", "es", "fr"])
    let english = table(.english)
    #expect(english.count > 150)
    for texts in PageTexts.all {
      let own = table(texts)
      #expect(Set(own.keys) == Set(english.keys) && texts.weekdays.count == 7)
      for (name, text) in own {
        #expect(!text.isEmpty, "\(texts.code): \(name)")
        let holes = { (text: String) in Set(text.matches(of: /\{\d\}/).map { String($0.output) }) }
        #expect(holes(text) == holes(english[name] ?? ""), "\(texts.code): \(name)")
      }
      // Only a few words are equal in two languages.
      let same = own.filter { $0.value == english[$0.key] }.count
      #expect(texts.code == "en" ? same == english.count : same < 22, "\(texts.code): \(same)")
    }
  }
}

extension String {
  /// Each part of this text between `start` and the next `end`.
  fileprivate func components(between start: String, and end: String) -> [String] {
    ranges(of: start).compactMap { range in
      self[range.upperBound...].firstRange(of: end).map { String(self[range.upperBound..<$0.lowerBound]) }
    }
  }
}

/// Decodes base64.
private enum Base64 {
  static func bytes(_ text: String) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var (bytes, bits, number): ([UInt8], Int, Int) = ([], 0, 0)
    for digit in text.compactMap(digits.firstIndex) {
      (number, bits) = (number << 6 | digit, bits + 6)
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(number >> bits & 255))
      }
    }
    return bytes
  }
}
