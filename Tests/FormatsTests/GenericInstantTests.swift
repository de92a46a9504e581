// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Logbook
import Testing

/// Tests times in UTC in a generic table. Each is read as an instant, and not as the time that a device
/// showed.
@Suite struct GenericInstantTests {
  private func readings(_ text: String, _ map: [String: String] = [:]) throws -> [Reading] {
    try TextExport(text) {
      $0.columns = map
      $0.kind = .smbg
    }.readings
  }

  private static let instants = """
    time,glucose (mg/dL)
    2026-05-01T07:00:00Z,110
    2026-12-01T19:30:00Z,99

    """

  @Test func aTimeWithZIsShownInTheZoneOfTheLogbook() throws {
    let read = try readings(Self.instants)
    #expect(read.map(\.deviceTime.text) == ["2026-05-01T09:00:00", "2026-12-01T20:30:00"])
    #expect(read.map(\.placement) == [7200, 3600].map { Placement(utcOffset: $0, source: .instant) })
    #expect(read.map(\.position) == [1_777_618_800_000, 1_796_153_400_000])
  }

  @Test func instantsInTextAndInNumbersAreTheSameReadings() throws {
    let counted = try readings("time,glucose (mg/dL)\n1777618800,110\n1796153400000,99\n")
    let text = try readings(Self.instants)
    #expect(counted.map(\.position) == text.map(\.position))
    #expect(counted.map(\.positionKind) == text.map(\.positionKind))
    #expect(counted.map(\.deviceTime) == text.map(\.deviceTime))
  }

  @Test func aTimeWithTheOffsetOfLondonIsShownAsStated() throws {
    let text = Self.instants.replacing("Z,", with: "+00:00,")
    let export = try TextExport(text) { $0.kind = .smbg }
    #expect(export.readings.map(\.deviceTime.text) == ["2026-05-01T07:00:00", "2026-12-01T19:30:00"])
    #expect(export.readings.allSatisfy { $0.positionKind == .time })
  }

  @Test func aColumnThatAPersonOrItsNameStatesToBeInUTCHoldsInstants() throws {
    let shown = try readings(Self.instants).map(\.deviceTime)
    for end in ["Z", "+00:00", ""] {
      let text = Self.instants.replacing("Z,", with: "\(end),")
      let map = ["utc": "time", "value": "glucose (mg/dL)"]
      #expect(try readings(text, map).map(\.deviceTime) == shown, "\(end)")
      #expect(try readings(text.replacing("time,", with: "time (UTC),")).map(\.deviceTime) == shown, "\(end)")
    }
  }

  @Test(arguments: ["2026-05-01T07:00:00Z", "1777618800"])
  func twoFingerSticksAtOneInstantAreTwoReadings(_ time: String) throws {
    let read = try readings("time,glucose (mg/dL)\n\(time),110\n\(time),140\n\(time),110\n")
    #expect(read.map(\.position) == [1_777_618_800_000, 1_777_618_800_001, 1_777_618_800_000])
    let sensor = try TextExport("time,cgm (mg/dL)\n\(time),110\n\(time),140\n") { $0.kind = .cbg }.readings
    #expect(Set(sensor.map(\.position)).count == 1)
  }
}
