// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The page of a report: figures and pictures in the words of a language.
package struct ReportPage: Sendable {
  let contents: ReportContents
  let texts: PageTexts
  let glucose: GlucoseText

  var total: GroupFigures { contents.result.total }

  /// A page with these contents and the texts of one language.
  package init(_ contents: ReportContents, _ texts: PageTexts) {
    self.contents = contents
    self.texts = texts
    glucose = GlucoseText(contents.unit, mark: texts.mark)
  }

  /// The HTML of the usual parts.
  ///
  /// - Throws: what the template throws.
  package func html() throws -> String { try html(usualParts) }

  /// The HTML of some parts. The same contents give the same bytes.
  ///
  /// - Throws: what the template throws.
  package func html(_ parts: [ReportPart]) throws -> String { try PageTemplate.render(model(parts)) }

  /// The content of the page: the sheets of some parts, and below them the sections of other parts.
  package func model(_ parts: [ReportPart]) -> PageModel {
    let drawn = parts.filter { $0 != .single && $0 != .about }.flatMap { self.sheets($0, .a4) }
    let views = drawn.enumerated().map { index, sheet in
      PageModel.SheetView(
        anchor: "\(sheet.anchor)-\(index + 1)",
        boxes: sheet.boxes.map { PageModel.Picture($0, title: "\(texts.title) \(index + 1)") },
        isFirst: index == 0)
    }
    let hasSummary = parts.contains(.summary)
    let sections =
      (parts.contains(.single) ? [daily].compactMap(\.self) : [])
      + (parts.contains(.about) ? aboutSections : [])
    return PageModel(
      language: texts.code, title: Markup(documentTitle), heading: hasSummary ? nil : Markup(texts.title),
      notice: hasSummary ? nil : Markup(texts.notice), sheets: views, facts: hasSummary ? [] : facts,
      navigation: navigation, sections: sections)
  }

  /// The sections with all figures, the devices, what was left out, and the rules.
  var aboutSections: [PageModel.Section] {
    [ranges, sensor, profile, sticks, amounts, devices, leftOut, about].compactMap(\.self)
  }

  private var facts: [PageModel.Row] {
    [
      (texts.period, contents.isAnonymised ? "—" : periodText),
      (texts.calendarDays, "\(total.days)"), (texts.timeZone, contents.zone),
      (texts.unit, contents.unit.name),
      (texts.targetRange, "\(glucose.range(contents.targets)) \(contents.unit.name)"),
    ].map { PageModel.Row($0, [$1]) }
  }

  private var navigation: PageModel.Navigation? {
    if contents.links.isEmpty { return nil }
    let links = contents.links.map { link in
      PageModel.Link(
        text: Markup(text(of: link.subject)), target: Markup(link.target), isCurrent: link.isCurrent)
    }
    return PageModel.Navigation(label: Markup(texts.otherDays), links: links)
  }

  private func text(of subject: ReportLink.Subject) -> String {
    switch subject {
    case .earlier: texts.earlier
    case .later: texts.later
    case .pdf: "PDF"
    case .days(1): texts.oneDay
    case .days(let count): PageTexts.fill(texts.manyDays, "\(count)")
    case .day(let date): date
    }
  }

  // MARK: - Numbers

  /// The figure, or a dash with the reason.
  func figure(_ metric: Metric, _ text: (Double) -> String) -> String {
    switch metric {
    case .value(let number): text(number)
    case .absent(let shortage): "— (\(texts.text(of: shortage)))"
    }
  }

  /// The figure, or a dash.
  func short(_ metric: Metric, _ text: (Double) -> String) -> String { metric.number.map(text) ?? "—" }

  /// The finger stick at a rank, from 0 for the lowest to 1 for the highest reading. If the reading at this
  /// rank is LO or HI, the text is that word, since it has no number. If the rank lies between LO or HI and a
  /// number, the text is a bound.
  func ranked(
    _ milligrams: Double?, at part: Double, _ edges: (lows: Int, highs: Int, count: Int)
  ) -> String {
    guard let milligrams else { return "—" }
    let place = part * Double(edges.count - 1)
    let (lower, upper) = (Int(place.rounded(.down)), Int(place.rounded(.up)))
    let (numbers, highs) = (edges.lows, edges.count - edges.highs)
    if upper < numbers { return "LO" }
    if lower >= highs { return "HI" }
    let text = glucose.number(milligrams)
    let isLower = lower < numbers
    let isHigher = upper >= highs
    return isLower && isHigher
      ? PageTexts.fill(texts.bounded, text)
      : PageTexts.fill(isLower ? texts.orLower : isHigher ? texts.orHigher : "{1}", text)
  }

  func percent(_ number: Double) -> String { glucose.decimal(number, 1) + " %" }

  func count(_ number: Int) -> String {
    var digits = Substring(String(number))
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits = digits.dropLast(3)
    }
    // A narrow blank separates groups of digits, as in ISO 80000. A comma or a point would have different
    // meanings in different languages.
    return ([digits] + groups).joined(separator: "\u{202F}")
  }
}
