// SPDX-License-Identifier: Apache-2.0

package import Logbook

package struct ReportDevice: Sendable {
  /// The vendor and the model.
  package let name: String
  /// The serial number; empty without one.
  package let serialNumber: String

  package init(name: String, serialNumber: String) {
    self.name = name
    self.serialNumber = serialNumber
  }
}

/// A link from a page to another one of the same logbook.
package struct ReportLink: Sendable {
  /// The content of the other page.
  package enum Subject: Hashable, Sendable {
    case earlier, later
    /// The same report as a PDF.
    case pdf
    /// A report of this many days.
    case days(Int)
    /// The report of the day with this date.
    case day(String)
  }

  package let subject: Subject
  /// The target: a URL relative to the page, such as `?days=1`.
  package let target: String
  /// Whether the link leads to the page that contains it.
  package let isCurrent: Bool

  package init(_ subject: Subject, target: String, isCurrent: Bool = false) {
    (self.subject, self.target, self.isCurrent) = (subject, target, isCurrent)
  }
}

/// The complete content of a report.
package struct ReportContents: Sendable {
  /// The maximum number of days with a curve: those at the end of the period.
  package static let maxDays = 90
  /// The maximum number of days with finger sticks and amounts: those at the end of the period.
  package static let maxLogDays = 366

  /// The figures, grouped by day, with the profile.
  package let result: StatisticsResult
  /// The days of the period, or its last ones. Only the last `maxDays` of them have the values of a sensor.
  package let days: [DayCurve]
  /// The days whose curves are drawn.
  var curveDays: [DayCurve] { days.suffix(Self.maxDays) }
  /// The devices of the readings.
  package let devices: [ReportDevice]
  /// The limits of the ranges.
  package let targets: Targets
  package let unit: GlucoseUnit
  /// The name of the logbook's zone.
  package let zone: String
  /// The first and the last date of the period, such as `2026-05-06`.
  package let dates: (first: String, last: String)
  /// The selected device; nil for all.
  package let device: String?
  /// The version of the program.
  package let version: String
  /// Whether serial numbers, names and notes are left out.
  package let isAnonymised: Bool
  /// Links to other pages; empty for a page in a file.
  package var links: [ReportLink] = []
  /// The person; nil without a name.
  package var person: ReportPerson?
  /// The times in the period for which no source has sensor values any more.
  package var missing: [MissingTime] = []
  /// The figures and the dates of the period of the same length before this one; nil if they are not
  /// compared.
  package var earlier: (figures: GroupFigures, dates: (first: String, last: String))?
  /// The name of a source for people.
  package var sourceName: @Sendable (CountingSource) -> String = { $0.text }

  package init(
    result: StatisticsResult, days: [DayCurve], devices: [ReportDevice], targets: Targets, unit: GlucoseUnit,
    zone: String, dates: (first: String, last: String), device: String?, version: String, isAnonymised: Bool
  ) {
    (self.result, self.days, self.devices) = (result, days, devices)
    (self.targets, self.unit, self.zone, self.dates) = (targets, unit, zone, dates)
    (self.device, self.version, self.isAnonymised) = (device, version, isAnonymised)
  }
}

/// A period without sensor values, because the source no longer had them when the program requested them.
/// Times are those of the logbook's clock.
package struct MissingTime: Hashable, Sendable {
  let from: DeviceTime
  let until: DeviceTime

  package init(from: DeviceTime, until: DeviceTime) { (self.from, self.until) = (from, until) }
}
