// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct DecimalMarkTests {
  private static func mark(_ cells: [String], presumed: DecimalMark = .point) -> (
    mark: DecimalMark, isDecided: Bool
  ) {
    var survey = DecimalMarkSurvey(presumed: presumed)
    for cell in cells { survey.observe(cell.utf8) }
    return (survey.mark, survey.isDecided)
  }

  @Test func theFirstFractionInATableDeterminesTheDecimalMark() {
    #expect(Self.mark(["7", "5,6", "5.6"]) == (.comma, true))
    #expect(Self.mark(["7", "5.6399", "5,6"], presumed: .comma) == (.point, true))
  }

  @Test(arguments: ["", "12", "1,234", ",5", "5,", "1.2.3", "1,2E+02", "12:30", "Low"])
  func cellsWithoutAFractionDoNotDetermineTheDecimalMark(_ cell: String) {
    #expect(Self.mark([cell]) == (.point, false))
    #expect(Self.mark([cell], presumed: .comma) == (.comma, false))
  }
}

@Suite struct CadenceTests {
  /// The survey saves memory by leaving out some days, but it always keeps the first day of 1970. So the
  /// memory must also be limited within one day.
  @Test func surveyingMillionsOfTimesOnOneDayTakesLimitedMemory() {
    var cadence = Cadence()
    for _ in 0..<2_000_000 { cadence.observe(0, series: 0) }
    #expect(!cadence.isSensor)
  }
}
