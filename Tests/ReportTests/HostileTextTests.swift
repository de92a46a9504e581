// SPDX-License-Identifier: Apache-2.0

import Logbook
import PDF
import SeededRandom
import Testing

@testable import Report

/// Tests text from other programs on a page: in elements, attributes, tables, and the titles of pictures.
struct HostileTextTests {
  private static let texts = [
    "<script>alert(1)</script>", "</td></table></section><script src=x></script>",
    "\"><img src=x onerror=alert(1)>",
    "\" onfocus=\"alert(1)\" autofocus x=\"", "' onmouseover='alert(1)",
    "</title><style>*{display:none}</style>",
    "</desc></svg><foreignObject>", "<!--", "]]>", "<![CDATA[", "&lt;script&gt;", "&#60;b&#62;", "&amp",
    "{{{page.title}}}{{#page.sections}}{{/page.sections}}{{>x}}", "{1}{2}", "<\u{338}script>", "\"\u{301}x",
    "a\u{0}b\u{1B}[31m\u{7F}\u{9B}c", "\u{202E}evil\u{202C}\u{2066}x\u{2069}\u{200F}\u{61C}",
    "a\r\nb\u{2028}c\u{85}d",
    "javascript:alert(1)", "url(http://x)",
  ]

  /// A report with this text in all places that show text from other programs.
  private func contents(_ text: String) -> ReportContents {
    var report = SampleReport.usual
    (report.readings, report.days) = (Array(report.readings.prefix(100)), 2)
    let kinds: [RecordKind] = [.note, .exercise, .insulin, .food]
    report.records += kinds.enumerated().map { index, kind in
      (kind, RecordFields(["text": .text(text), "subtype": .text(text)]), "2026-03-03T1\(index):00")
    }
    report.devices = [ReportDevice(name: text, serialNumber: text)]
    let own = report.contents
    return ReportContents(
      result: own.result, days: own.days, devices: own.devices, targets: own.targets, unit: own.unit,
      zone: text, dates: (text, text), device: text, version: text, isAnonymised: false)
  }

  private func html(_ text: String, _ texts: PageTexts) throws -> String {
    var contents = contents(text)
    contents.links = [ReportLink(.day(text), target: text)]
    return try ReportPage(contents, texts).html([.single, .about])
  }

  /// The tags of a page, each with the names of its attributes. A browser acts on tags and attributes, so no
  /// text may change them.
  private func tags(_ html: String) -> [String] {
    html.matches(of: /<[^>]*>/).map { tag in
      let name = tag.output.prefix { !$0.isWhitespace && $0 != ">" }
      let attributes = tag.output.matches(of: /\ ([a-zA-Z-]+)="[^"]*"/).map { String($0.1) }
      return ([String(name)] + attributes).joined(separator: " ")
    }
  }

  @Test(arguments: Seeds.share(of: texts, every: 2), [PageTexts.english.code, PageTexts.german.code])
  func textFromImportedDataIsNeverMarkupInTheReport(_ text: String, _ code: String) throws {
    let words = try #require(PageTexts.all.first { $0.code == code })
    let clean = try html("clean", words)
    let page = try html(text, words)
    #expect(tags(page) == tags(clean))
    for sign in ["<", ">", "\"", "'"] as [Unicode.Scalar] {
      #expect(
        page.unicodeScalars.count { $0 == sign } == clean.unicodeScalars.count { $0 == sign }, "\(sign)")
    }
    // The text is in notes, names, the zone, the dates, the chosen device, and in a link and its text.
    #expect(clean.ranges(of: "clean").count > 9)
    #expect(page.ranges(of: Markup(text).description).count == clean.ranges(of: "clean").count)
    let replaced = { (html: String) in html.unicodeScalars.count { $0 == "\u{FFFD}" } }
    #expect(replaced(page) == replaced(ForeignText.shown(page)))
  }

  /// The comparison of tags finds unescaped text in an element, in an attribute, and in the title of a
  /// picture.
  @Test(arguments: [
    ("<p>clean</p>", "<p>a<script>b</p>"), ("<a href=\"clean\">", "<a href=\"\" onfocus=\"x\">"),
    ("<title>clean</title>", "<title></title><style></title>"),
  ])
  func unescapedMarkupIsFoundByTheComparisonOfTags(_ clean: String, _ hostile: String) {
    #expect(tags(clean) != tags(hostile))
    #expect(tags(clean) == tags(clean.replacing("clean", with: Markup("\"<b> onfocus='x'").description)))
  }

  @Test(arguments: texts)
  func aDrawingShowsMarkupInATextLiterally(_ text: String) {
    func drawing(_ text: String) -> Drawing {
      var drawing = Drawing(width: 100, height: 10)
      drawing.part(.paragraph) { $0.text(text, 0, 8) }
      drawing.part(.figure(text, x: 0, y: 0, width: 1, height: 1)) { $0.text(text, 0, 8) }
      return drawing
    }
    for form in [\Drawing.svg, \Drawing.reading] {
      let (own, clean) = (drawing(text)[keyPath: form], drawing("clean")[keyPath: form])
      #expect(tags(own) == tags(clean) && own.ranges(of: Markup(text).description).count == 2)
    }
  }

  @Test(arguments: texts)
  func aReportSheetShowsTheNameOfThePersonAsText(_ text: String) throws {
    var contents = contents(text)
    contents.person = ReportPerson(name: text, born: text)
    let html = try ReportPage(contents, .english).html(ReportPart.allCases)
    for word in ["<script", "<img", "<b>", "<style></", "<foreignObject", "\u{202E}"] {
      #expect(!html.contains(word), "\(word)")
    }
  }
}
