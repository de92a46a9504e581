// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestArchives
import TestProgram
import Testing

/// Tests which of several exports in a ZIP archive decides about a dose, if their newest items are equal.
@Suite(.timeLimit(.minutes(10)))
struct MemberTimeTests {
  private static let old = dos(46, 3, 11)
  private static let later = dos(46, 3, 12)

  private static func dos(_ year: Int, _ month: Int, _ day: Int) -> Int {
    (year << 9 | month << 5 | day) << 16 | 12 << 11
  }

  /// Imports an archive with a corrected dose of 7 U in `a.csv` and the former 5 U in `b.csv`, which have
  /// these times. Returns the units of the dose.
  private func units(_ corrected: Int, _ former: Int) async throws -> Double {
    let program = try Program()
    var writer = ZipWriter()
    writer.entries = [("a.csv", "7", corrected), ("b.csv", "5", former)].map { name, units, time in
      let text = "day,clock,rapid insulin\n2026-03-10,20:00,6\n2026-03-11,08:00,\(units)\n"
      var entry = ZipWriter.Entry(name: name, bytes: Array(text.utf8))
      entry.time = time
      return entry
    }
    let path = try program.write(writer.bytes(), to: "exports.zip")
    let outcome = try await program.run(
      "import", "--timezone", "Europe/Berlin", "--map", "date=day,clock=clock,insulin=rapid insulin", path)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    let items = try await program.run("list", "--format", "ndjson").objects()
    #expect(items.count == 2, "\(items)")
    let fields = items.compactMap { $0["fields"] as? [String: any Sendable] }
    return try #require(fields.compactMap { ($0["units"] as? NSNumber)?.doubleValue }.first { $0 != 6 })
  }

  @Test func theMemberThatWasWrittenLaterDecides() async throws {
    #expect(try await units(Self.later, Self.old) == 7)
    #expect(try await units(Self.old, Self.later) == 5)
  }

  /// Members without a plausible time have that of the archive, so the last imported one decides.
  @Test func membersWithoutAPlausibleTimeHaveThatOfTheArchive() async throws {
    #expect(try await units(0, 0) == 5)
    #expect(try await units(Self.dos(0, 1, 2), Self.dos(0, 1, 1)) == 5)
    #expect(try await units(Self.dos(118, 1, 2), Self.dos(118, 1, 1)) == 5)
  }
}
