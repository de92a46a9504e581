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

  /// The HTML: the same bytes for the same contents.
  ///
  /// - Throws: errors of the template.
  package func html() throws -> String { try PageTemplate.render(model) }

  /// The content of the page.
  package var model: PageModel {
    PageModel(
      language: texts.code, title: Markup(title), notice: Markup(texts.notice), facts: facts,
      navigation: navigation,
      sections: [
        ranges, sensor, profile, daily, sticks, amounts, devices, leftOut, about,
      ].compactMap(\.self))
  }

  private var title: String { contents.personName.map { "\(texts.title): \($0)" } ?? texts.title }

  private var facts: [PageModel.Row] {
    let person = [(texts.personName, contents.personName), (texts.born, contents.personBorn)]
    let stated = person.compactMap { label, text in text.map { (label, $0) } }
    return
      (stated + [
        (texts.period, "\(contents.dates.first) – \(contents.dates.last)"),
        (texts.calendarDays, "\(total.days)"), (texts.timeZone, contents.zone),
        (texts.unit, contents.unit.name),
        (texts.targetRange, "\(glucose.range(contents.targets)) \(contents.unit.name)"),
      ]).map { PageModel.Row($0, [$1]) }
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

  func percent(_ number: Double) -> String { glucose.decimal(number, 1) + " %" }

  /// A percentage of a range: whole percents, or tenths below one percent.
  func part(_ whole: Int, exactly percent: Double) -> String {
    WholePercents.text(whole, exactly: percent).replacing(".", with: texts.mark)
  }

  func count(_ number: Int) -> String {
    var digits = Substring(String(number))
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits = digits.dropLast(3)
    }
    // A narrow blank, as in ISO 80000. A comma or a point would have different meanings in different
    // languages.
    return ([digits] + groups).joined(separator: "\u{202F}")
  }
}
