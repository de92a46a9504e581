// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the import of a recorded meter session from a file, with the built program.
@Suite struct TranscriptImportTests {
  private static let sample = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Samples/meters/contour-constructed.transcript")

  private let program: Program

  init() throws { program = try Program() }

  private func lines() throws -> [Substring] {
    try String(contentsOf: Self.sample, encoding: .utf8).split(separator: "\n")
  }

  private func object(_ outcome: Program.Outcome) throws -> [String: any Sendable] {
    try #require(try outcome.objects().first)
  }

  @Test func anImportedTranscriptIsStoredOnceWithItsMeterAndClock() async throws {
    let first = try await program.run(
      "import", "--timezone", "Europe/Madrid", "--json", "--transcript", Self.sample.path)
    #expect(first.status == 0, "\(first.errors)")
    let report = try object(first)
    #expect(report["new"] as? Int == 6)
    #expect(report["format"] as? String == "contour")
    let meter = try #require(report["meter"] as? [String: any Sendable])
    #expect(meter["serial"] as? String == "7413-1234567")
    let clock = try #require(report["clock"] as? [String: any Sendable])
    #expect(clock["difference"] as? Int == 180)
    #expect(clock["host"] as? String == "2026-05-06T18:30:00Z")
    let readings = try StoreFile(program.store).readings()
    let again = try object(try await program.run("import", "--json", "--transcript", Self.sample.path))
    #expect(again["new"] as? Int == 0 && again["known"] as? Int == 6)
    #expect(try StoreFile(program.store).readings() == readings)
    #expect(try StoreFile(program.store).count("record") == 2)
  }

  @Test func aTranscriptOfTheMeterOfAnotherPersonIsRefused() async throws {
    for name in ["anna", "ben"] {
      #expect(try await program.run("person", "add", name, "--quiet").status == 0)
    }
    #expect(try await program.run("person", "assign", "7413-1234567", "anna", "--quiet").status == 0)
    let arguments = [
      "import", "--timezone", "Europe/Madrid", "--transcript", Self.sample.path, "--person", "ben",
    ]
    let refused = try await program.run(arguments: arguments)
    #expect(refused.status == 65 && refused.errors.contains("that of anna"), "\(refused.errors)")
    #expect(try await program.run(arguments: arguments + ["--yes"]).status == 0)
  }

  @Test func anIncompleteTranscriptStoresNothingAndCreatesNoStore() async throws {
    let lines = try lines()
    // The transcript is cut at positions between the header and the first byte of the final handshake.
    for count in stride(from: 5, through: lines.count - 3, by: 4) {
      let path = try program.write(lines.prefix(count).joined(separator: "\n") + "\n", to: "cut.transcript")
      let outcome = try await program.run("import", "--transcript", path)
      #expect(outcome.status == 65, "\(count): \(outcome.errors)")
      #expect(outcome.errors.contains("nothing was stored"))
      #expect(!FileManager.default.fileExists(atPath: program.store))
    }
  }

  @Test func aFolderIsRefusedAsATranscriptWithAdvice() async throws {
    let outcome = try await program.run("import", "--transcript", program.folder.path)
    #expect(
      outcome.status == 65 && outcome.errors.contains("Is a directory; name the transcript in it"),
      "\(outcome)")
  }

  @Test func aTruncatedTranscriptLineIsReportedWithItsNumber() async throws {
    let text = try lines().joined(separator: "\n")
    let path = try program.write(String(text.dropLast(7)), to: "cut.transcript")
    let outcome = try await program.run("import", "--transcript", path)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("cut.transcript:\(try lines().count): the transcript is truncated"))
  }

  @Test func aChangedByteInATranscriptIsReportedAsAWrongChecksum() async throws {
    var lines = try lines().map(String.init)
    // A digit in the text of the record changes, but the checksum of the frame stays the same.
    let index = try #require(lines.firstIndex { $0.contains("= 414243330233527c") })
    lines[index] = lines[index].replacing("= 414243330233527c31", with: "= 414243330233527c32")
    let path = try program.write(lines.joined(separator: "\n") + "\n", to: "bad.transcript")
    let outcome = try await program.run("import", "--transcript", path)
    #expect(outcome.status == 65)
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func aDryRunOfATranscriptImportWritesNothing() async throws {
    let outcome = try await program.run("import", "--dry-run", "--transcript", Self.sample.path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("new 6 ") && outcome.output.contains("preview: nothing was stored"))
    #expect(!FileManager.default.fileExists(atPath: program.store))
  }

  @Test func theClockOfATranscriptIsShownByImportLogAndShow() async throws {
    let outcome = try await program.run(
      "import", "--timezone", "Europe/Madrid", "--transcript", Self.sample.path)
    #expect(
      outcome.output.contains("warning: the meter's clock showed 2026-05-06 20:33:00, 3 min 0 s ahead of"))
    let words = "2026-05-06 20:33:00, 3 min 0 s ahead of the local time"
    let log = try await program.run("log", "1")
    #expect(log.output.contains("  clock \(words)\n"))
    #expect(log.output.contains("  meter Ascensia Contour Next USB 7413-1234567 · firmware 01.24"))
    let list = try await program.run("list", "--long", "--limit", "1")
    let id = try #require(list.output.split(separator: " ").first { $0.hasPrefix("r1.") })
    #expect(try await program.run("show", String(id)).output.contains(words))
    let entry = try object(try await program.run("log", "--json"))
    #expect((entry["clock"] as? [String: any Sendable])?["difference"] as? Int == 180)
  }

  @Test(arguments: [
    ("driver contour", "driver unheard-of", "unknown driver 'unheard-of'"),
    ("usb 1a79:7410", "usb 1a79:ffff", "supports no meter with the USB ids 1a79:ffff"),
    ("glucoport-transcript 1", "glucoport-transcript 9", ":1: this is not a transcript"),
  ])
  func aFileThatIsNotATranscriptIsRefused(
    _ line: String, _ other: String, _ message: String
  ) async throws {
    let text = try lines().joined(separator: "\n").replacing(line, with: other) + "\n"
    let outcome = try await program.run("import", "--transcript", try program.write(text, to: "a.transcript"))
    #expect(outcome.status == 65 && outcome.errors.contains(message), "\(outcome.errors)")
  }

  @Test func aMissingTranscriptIsReportedAsMissing() async throws {
    let outcome = try await program.run("import", "--transcript", program.path("none"))
    #expect(outcome.status == 66 && outcome.errors.contains("cannot read the transcript"))
    #expect(try await program.run("import", "--transcript", try program.write("", to: "empty")).status == 65)
  }

  @Test(arguments: [
    ["import"], ["import", "--meter", "a.csv"], ["import", "--meter", "--transcript", "a"],
    ["import", "--if-present", "a.csv"], ["import", "--driver", "contour", "a.csv"],
    ["import", "--meter", "--unit", "mg/dL"], ["import", "--transcript", "a", "--map", "time=a"],
    ["import", "--meter", "--rejects", "r.csv"], ["import", "--meter", "--driver", "unheard-of"],
    ["meter", "udev-rules", "--group", "a b"],
  ])
  func aTranscriptImportRefusesIncompatibleSourcesAndOptions(_ arguments: [String]) async throws {
    #expect(try await program.run(arguments: arguments).status == 64)
  }

  @Test func meterDriversAndUdevRulesListEveryModel() async throws {
    let drivers = try await program.run("meter", "drivers")
    #expect(drivers.status == 0 && drivers.output.contains("contour: "))
    #expect(drivers.output.contains("  1a79:7410  "))
    let rules = try await program.run("meter", "udev-rules", "--group", "meters")
    #expect(
      rules.output.contains(#"ATTR{idVendor}=="1a79", ATTR{idProduct}=="7410", MODE="0660", GROUP="meters""#))
    #expect(!rules.output.contains("0666"))
  }
}
