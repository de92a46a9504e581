// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct ColumnPairsTests {
  @Test func columnPairsAreSplitAtCommasAndTheFirstEqualsSign() throws {
    let pairs = try #require(ColumnPairs.parse("time=ts,value=a=b"))
    #expect(pairs.map(\.name) == ["time", "value"] && pairs.map(\.value) == ["ts", "a=b"])
  }

  @Test(arguments: ["", "time", "time=", "=ts", "time=ts,", ",time=ts", "time=ts\\"])
  func anInvalidColumnPairIsRefused(_ text: String) {
    #expect(ColumnPairs.parse(text) == nil)
  }

  @Test(arguments: ["a,b", "a=b", "a\\b", "a\\,b", "\\", ",", "=x", "it's \"so\"", "a b", "Glykämie"])
  func everyColumnNameSurvivesWritingAndParsing(_ name: String) throws {
    let pairs = try #require(ColumnPairs.parse(ColumnPairs.text([("value", name), (name, "x")])))
    #expect(pairs.map(\.name) == ["value", name] && pairs.map(\.value) == [name, "x"])
  }
}
