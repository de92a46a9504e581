// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

/// Tests inputs without readings, or with readings of several persons. Each is refused with its message in
/// `expected.txt` of the folder. `GLUCOPORT_REWRITE_GOLDEN=1` writes that file again for a review.
@Suite struct RefusedSampleTests {
  private static let folder = Repository.samples.appending(path: "refused")
  private static let expected = folder.appending(path: "expected.txt")

  private static var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
        $0 != expected.lastPathComponent
      }
      .sorted()
    }
  }

  /// The message of the refusal, with paths relative to the repository.
  private static func refusal(_ name: String) throws -> String {
    let path = folder.appending(path: name).path
    do {
      _ = try Rendering.lines(of: URL(filePath: path), options: Rendering.options())
      return "is read"
    } catch let failure as Failure {
      #expect(failure.category == .badInput, "\(name)")
      return failure.message.replacing(path, with: name)
    }
  }

  @Test func eachRefusedSampleHasItsExpectedMessage() throws {
    let text = try Self.names.map { try Self.refusal($0) + "\n" }.joined()
    if ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1" {
      try text.write(to: Self.expected, atomically: true, encoding: .utf8)
    }
    #expect(text == (try String(contentsOf: Self.expected, encoding: .utf8)))
    #expect(!text.contains("is read"))
  }

  /// Cron jobs write messages to a log, which must not contain a person's id or name.
  @Test func noMessageAboutSeveralPersonsContainsAnID() throws {
    for name in try Self.names where name.hasPrefix("persons-") {
      let message = try Self.refusal(name)
      let ids = [
        "700101", "700202", "Rex", "Bella", "0A11", "0B22", "XY-0", "=31", "=32", "example-", "sid=0",
      ]
      for id in ids { #expect(!message.contains(id), "\(name): \(message)") }
      #expect(message.contains("1 of 2") || message.contains("=1 "), "\(name): \(message)")
    }
  }
}
