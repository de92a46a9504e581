// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import Testing

/// Tests the warnings about the kind of readings in a format whose readings are all finger sticks.
@Suite struct SteadySticksTests {
  private static let header =
    #""Date","Time","Tags","Blood Glucose Measurement (mg/dL)","Insulin Injection Units (Pen)","Basal Injection Units","#
    + #""Insulin Injection Units (pump)","Insulin (Meal)","Insulin (Correction)","Temporary Basal Percentage","#
    + #""Temporary Basal Duration (Minutes)","Meal Carbohydrates (Grams, Factor 1)","Meal Descriptions","#
    + #""Activity Duration (Minutes)","Activity Intensity (1: Cosy, 2: Ordinary, 3: Demanding)","Activity Description","#
    + #""Steps","Note","Location","Blood pressure","Body weight (lbs)","HbA1c (Percent)","Ketones","Food type","#
    + #""Medication""#

  /// A log of mySugr with a value at each of these minutes.
  private static func diary(
    _ minutes: some Sequence<Int>, kind: ReadingKind? = nil
  ) throws -> TextExport {
    let rows = minutes.map { minute in
      let (day, hour) = (1 + minute / 1440, minute / 60 % 24)
      let clock = "\(hour % 12 == 0 ? 12 : hour % 12):\(minute % 60 < 10 ? "0" : "")\(minute % 60):00"
      let cells = ["Aug \(day), 2025", "\(clock) \(hour < 12 ? "AM" : "PM")", "", "\(100 + minute % 40)"]
      return (cells + Array(repeating: "", count: 21)).map { "\"\($0)\"" }.joined(separator: ",")
    }
    return try TextExport(([header] + rows).joined(separator: "\n") + "\n") { $0.kind = kind }
  }

  private static let advice = "every few minutes, as the values of a sensor do"

  @Test(arguments: [1, 5, 15])
  func valuesEveryFewMinutesInADiaryCauseAWarning(_ step: Int) throws {
    let export = try Self.diary(stride(from: 0, to: 150 * step, by: step))
    #expect(export.readings.count == 150 && export.readings.allSatisfy { $0.kind == .smbg })
    #expect(export.warnings.contains { $0.hasPrefix("150 finger sticks") && $0.contains(Self.advice) })
  }

  /// A person measures before and after meals, or each few minutes for some hours.
  @Test func fingerSticksOfAPersonCauseNoWarning() throws {
    let meals = (0..<28).flatMap { day in [450, 570, 750, 755, 1140, 1380].map { day * 1440 + $0 } }
    let test = stride(from: 600, to: 960, by: 5)
    for minutes in [meals, Array(test), Array(stride(from: 0, to: 28 * 1440, by: 240))] {
      let export = try Self.diary(minutes)
      #expect(export.readings.count == minutes.count)
      #expect(!export.warnings.contains { $0.contains(Self.advice) })
    }
  }

  @Test func anOptionForTheKindThatTheFormatDoesNotUseCausesAWarning() throws {
    let unused = "not used: --kind cbg, since mysugr determines the kind of readings itself"
    #expect(try Self.diary([450, 750], kind: .cbg).warnings.contains(unused))
    #expect(try !Self.diary([450, 750]).warnings.contains { $0.contains("--kind") })
    let table = "time,glucose (mg/dL)\n2026-05-06 08:00,110\n2026-05-06 12:00,120\n"
    let used = try TextExport(table) { $0.kind = .cbg }
    #expect(used.readings.map(\.kind) == [.cbg, .cbg])
    #expect(!used.warnings.contains { $0.contains("--kind") })
  }
}
