// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

/// Tests code that several formats share: finding columns, naming unknown row types, and inferring the unit.
@Suite struct SharedValueTests {
  private enum Column: Int, CaseIterable {
    case time, value

    static func named(_ name: String) -> Column? { name == "time" ? .time : name == "value" ? .value : nil }
  }

  @Test func columnsAreFoundByNameAndUnknownColumnsAreReported() {
    let columns = KnownColumns(
      ["Note", "Value", "TIME", "value", "Mood", ""], unread: ["note"], Column.named)
    #expect(columns[.time] == 2 && columns[.value] == 1 && columns.count == 5)
    #expect(columns.unknown == ["value", "Mood"])
    #expect(columns.has(.time, .value))
    #expect(!KnownColumns(["time"], Column.named).has(.time, .value))
    #expect(KnownColumns<Column>([], Column.named)[.time] == -1)
  }

  @Test func anUnknownRowTypeIsReportedByNameUnlessItLooksLikeAValue() {
    var kinds = OtherKinds()
    func name(_ text: String) -> String { text.withField { kinds.name($0) } }
    #expect(name("Pumpe gestartet") == "Pumpe gestartet")
    #expect(name("7,4") == "other row" && name("") == "other row")
    #expect(name(String(repeating: "x", count: 41)) == "other row")
    for number in 0..<60 {
      let letters =
        String(UnicodeScalar(UInt8(65 + number / 26))) + String(UnicodeScalar(UInt8(65 + number % 26)))
      _ = name(letters)
    }
    #expect(name("Zz") == "other row")
    #expect(name("Pumpe gestartet") == "Pumpe gestartet")
  }

  @Test(arguments: [
    ([112.0, 98], GlucoseUnit.milligramsPerDecilitre), ([5.6, 12], .millimolesPerLitre),
    (Array(repeating: 112, count: 99) + [17], .milligramsPerDecilitre), ([0, 112], .milligramsPerDecilitre),
  ])
  func allValuesOfATableTogetherDetermineItsUnit(_ values: [Double], _ unit: GlucoseUnit) throws {
    var survey = UnitSurvey(given: nil, isForced: false)
    for value in values { survey.observe(value) }
    try survey.decide()
    #expect(survey.unit == unit)
  }

  @Test(arguments: [[20.0], [5.6, 112], [35, 36], [35.5]])
  func aUnitThatTheValuesDoNotDetermineIsRefused(_ values: [Double]) {
    var survey = UnitSurvey(given: nil, isForced: false)
    for value in values { survey.observe(value) }
    #expect(throws: Failure.self) { try survey.decide() }
  }

  @Test func aTimeZoneNamedByManyRowsIsLookedUpOnce() {
    var zones = RowZones()
    let time = ShownTime(DeviceTime(seconds: 1_780_000_000))
    func place(_ name: String) -> ShownTime { name.withField { zones.addingOffset(to: time, in: $0) } }
    #expect(place("Asia/Tokyo").utcOffset == 32400 && place("Asia/Tokyo").utcOffset == 32400)
    #expect(place("").utcOffset == nil && zones.warnings.isEmpty)
    #expect(place("Nowhere").utcOffset == nil && zones.warnings.count == 1)
  }
}
