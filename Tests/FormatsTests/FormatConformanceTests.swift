// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Testing

@Suite struct FormatConformanceTests {
  private static let suite = FormatConformance(
    formats: FormatRegister.all.map(\.id), lastResort: "generic",
    headerless: ["diaguard", "glimp", "glucometerutils"],
    // Delimiters in the remark at the end of a row of SiDiary are not quoted.
    unlimited: ["sidiary", "d1namo"],
    samples: Repository.samples)

  @Test func everyFolderOfSamplesBelongsToAFormat() throws { try Self.suite.checkFolders() }

  @Test(arguments: suite.formats, FormatConformance.Rule.allCases)
  func aFormatFollowsEachConformanceRule(_ format: String, _ rule: FormatConformance.Rule) throws {
    try Self.suite.check(rule, of: format)
  }
}
