// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report

/// The parameters in the address of a page: `last=2026-03-15&days=14&language=de`.
struct PageQuery: Equatable {
  /// The numbers of days that the page offers.
  static let spans = [1, 7, 14, 30, ReportContents.maxDays]
  private static let usualDays = 14
  private static let day: Int64 = 86400

  /// The first second of the last day, in shown time; nil for the newest day with readings.
  var last: Int64?
  var days = Self.usualDays
  var texts = PageTexts.english
  var form = ReportForm.html

  static func == (left: Self, right: Self) -> Bool {
    left.last == right.last && left.days == right.days && left.texts.code == right.texts.code
      && left.form == right.form
  }

  init() {}

  /// Nil for invalid parameters.
  init?(_ parameters: [String: String]) {
    for (name, value) in parameters {
      switch name {
      case "last":
        // Only a date, since `DeviceTime` also reads a time.
        guard value.utf8.count == 10, let date = DeviceTime(text: value + "T00:00:00"), date.seconds >= 0
        else {
          return nil
        }
        last = date.seconds
      case "days":
        guard let days = Int(value), (1...ReportContents.maxDays).contains(days) else { return nil }
        self.days = days
      case "language":
        guard let texts = PageTexts.all.first(where: { $0.code == value }) else { return nil }
        self.texts = texts
      case "format":
        guard let form = ReportForm(rawValue: value) else { return nil }
        self.form = form
      default: return nil
      }
    }
  }

  /// The shown times of the page, if this is its last day.
  func range(last: Int64) -> Range<Int64> { last - Int64(days - 1) * Self.day..<last + Self.day }

  /// The links on the page for these shown times.
  ///
  /// - Parameter today: the first second of the current day, after which there is nothing.
  func links(_ range: Range<Int64>, today: Int64) -> [ReportLink] {
    let last = range.upperBound - Self.day
    let length = Int64(days) * Self.day
    var links: [ReportLink] = []
    if range.lowerBound > 0 { links.append(ReportLink(.earlier, target: target(last: last - length, days))) }
    if last < today {
      links.append(ReportLink(.later, target: target(last: min(last + length, today), days)))
    }
    links += Self.spans.map { span in
      ReportLink(.days(span), target: target(last: last, span), isCurrent: span == days)
    }
    links.append(ReportLink(.pdf, target: target(last: last, days) + "&format=pdf"))
    // More of them would be a page of links.
    guard days > 1, days <= Self.usualDays else { return links }
    let each = stride(from: range.lowerBound, to: range.upperBound, by: Int64.Stride(Self.day))
    return links + each.map { ReportLink(.day(Self.date($0)), target: target(last: $0, 1)) }
  }

  static func date(_ seconds: Int64) -> String { String(DeviceTime(seconds: seconds).text.prefix(10)) }

  private func target(last: Int64, _ days: Int) -> String {
    "?last=\(Self.date(last))&days=\(days)&language=\(texts.code)"
  }
}
