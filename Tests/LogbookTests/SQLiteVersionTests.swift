// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct SQLiteVersionTests {
  @Test(arguments: [(3_037_002, "3.37.2"), (3_031_001, "3.31.1"), (2_999_999, "2.999.999")])
  func anOldSQLiteIsRefusedAndTheRequiredVersionStated(_ number: Int32, _ shown: String) throws {
    let failure = try #require(throws: Failure.self) { try SQLiteVersion(number).check() }
    #expect(failure.category == .configuration)
    #expect(failure.message.contains("is \(shown);") && failure.message.contains("needs 3.38.0 or newer"))
  }

  @Test(arguments: [3_038_000, 3_040_001, 4_000_000])
  func aNewEnoughSQLiteIsAccepted(_ number: Int32) throws { try SQLiteVersion(number).check() }

  @Test func anSQLiteBuiltWithoutTriggersOrThreadSafetyIsReported() {
    #expect(SQLiteVersion.missing(isThreadSafe: true) { _ in false } == [])
    #expect(
      SQLiteVersion.missing(isThreadSafe: false) { $0 == "OMIT_TRIGGER" } == ["OMIT_TRIGGER", "THREADSAFE=0"])
  }
}
