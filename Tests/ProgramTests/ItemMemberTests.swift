// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the members of the objects that `list`, `export` and `show` print, with all samples.
@Suite(.timeLimit(.minutes(10)))
struct ItemMemberTests {
  private static let common = ["item", "kind", "time", "device_time", "utc_offset", "offset_source"]
  private static let reading = [
    "value", "unit", "range", "threshold", "marks", "withdrawn", "vendor", "model", "serial", "format",
    "position_kind",
    "position", "value_bucket", "occurrence",
  ]
  private static let record = ["guid", "entry_guid", "fields", "provenance", "deleted"]

  /// A store with the contents of all samples that can be imported.
  private func program() async throws -> Program {
    let program = try Program()
    let root = URL(filePath: Samples.path(""))
    let extensions: Set<String> = ["csv", "tsv", "txt", "json", "ndjson", "gz"]
    let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
    let samples = names.filter {
      extensions.contains(URL(filePath: $0).pathExtension) && !$0.hasSuffix(".expected.ndjson")
    }.sorted().map { root.appending(path: $0).path }
    #expect(samples.count > 60)
    let (plain, special) = (
      samples.filter { !FileManager.default.fileExists(atPath: $0 + ".options") },
      samples.filter { FileManager.default.fileExists(atPath: $0 + ".options") }
    )
    _ = try await program.run(arguments: ["import", "--quiet", "--timezone", "Europe/Madrid"] + plain)
    for path in special {
      let options = try String(contentsOfFile: path + ".options", encoding: .utf8)
      _ = try await program.run(
        arguments: ["import", "--quiet", path]
          + options.split(whereSeparator: \.isWhitespace).map(String.init))
    }
    _ = try await program.run("record", "add", "exercise", "30", "min")
    return program
  }

  /// The names of an object's members, in the order in which the line has them.
  private func names(_ line: Substring) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let names = try #require(object).keys
    let places = names.compactMap { name in
      line.firstRange(of: "\"\(name)\":").map { (name, $0.lowerBound) }
    }
    return places.sorted { $0.1 < $1.1 }.map(\.0)
  }

  @Test func jsonObjectsOfOneTypeAlwaysHaveTheSameMembers() async throws {
    let program = try await program()
    for options in [[], ["--both-units"]] {
      for command in ["list", "export"] {
        let printed = try await program.run(
          arguments: [command, "--format", "ndjson", "--deleted"] + options)
        let lines = printed.output.split(separator: "\n")
        #expect(lines.count > 300)
        var kinds: Set<String> = []
        let values = options.isEmpty ? [] : ["value_mgdl", "value_mmoll"]
        let expected = [
          "reading": Self.common + Self.reading.prefix(2) + values + Self.reading.dropFirst(2),
          "record": Self.common + Self.record,
        ]
        for (line, object) in zip(lines, try printed.objects()) {
          let sort = try #require(object["item"] as? String)
          kinds.insert(try #require(object["kind"] as? String))
          #expect(try names(line) == expected[sort])
        }
        let listed: Set = [
          "smbg", "cbg", "scan", "ketone", "insulin", "food", "exercise", "note", "annotation",
        ]
        // One of the samples states a deleted dose, which a withdrawal hides.
        #expect(kinds == (command == "export" ? listed.union(["zone", "withdrawal"]) : listed))
      }
    }
  }

  @Test func showAddsTheSameJSONMembersToAllObjectsOfOneType() async throws {
    let program = try Program()
    let path = Samples.path("glucoport/everything.csv")
    _ = try await program.run("import", "--quiet", "--timezone", "Europe/Madrid", path)
    let table = try await program.run("list", "--long").output
    let readings = table.split { $0 == " " || $0.isNewline }.filter { $0.hasPrefix("r") && $0.contains(".") }
    let records = try await program.run("record", "list", "--format", "ndjson").objects()
    var seen: [String: Set<[String]>] = [:]
    for id in readings.map(String.init) + records.compactMap({ $0["guid"] as? String }) {
      let shown = try await program.run("show", id, "--json")
      let object = try #require(try shown.objects().first)
      seen[try #require(object["item"] as? String), default: []].insert(object.keys.sorted())
    }
    #expect(seen["reading"]?.count == 1 && seen["record"]?.count == 1)
    #expect(readings.count == 10 && records.count == 4)
  }

  @Test func aWholeValueInMillimolesHasADecimalInListsAndNoneInJSON() async throws {
    let program = try Program()
    let rows =
      "time,glucose (mmol/L)\n2026-03-01T08:00:00,6.0\n2026-03-01T08:05:00,LO\n2026-03-01T08:10:00,5.72\n"
    _ = try await program.run("import", "-", "--timezone", "UTC", input: rows)
    let list = try await program.run("list", "--long")
    #expect(list.output.contains("   6.0 mmol/L ") && list.output.contains("  5.72 mmol/L "))
    let id = try #require(list.output.split { $0 == " " || $0.isNewline }.first { $0.hasPrefix("r1.") })
    #expect(try await program.run("show", String(id)).output.contains("\nvalue          6.0\n"))
    let export = try await program.run("export", "--format", "ndjson", "--both-units").output
    #expect(export.matches(of: /"value":6,"unit":"mmol\/L","value_mgdl":108,"value_mmoll":6\.0,/).count == 1)
    #expect(
      export.matches(of: /"value":null,"unit":"mmol\/L","value_mgdl":null,"value_mmoll":null,/).count == 1)
    #expect(
      export.matches(of: /"value":5\.72,"unit":"mmol\/L","value_mgdl":103,"value_mmoll":5\.72,/).count == 1)
    let csv = try await program.run("export", "--both-units").output
    #expect(csv.contains(",6,mmol/L,108,6.0,") && csv.contains(",5.72,mmol/L,103,5.72,"))
  }

  @Test(arguments: [
    ["list", "--both-units"], ["list", "--both-units", "--days", "--format", "ndjson"],
    ["export", "--both-units", "--format", "nightscout"],
  ])
  func bothGlucoseUnitsAreAddedInCSVAndNDJSONOnRequest(_ arguments: [String]) async throws {
    let outcome = try await Program().run(arguments: arguments)
    #expect(outcome.status == 64 && outcome.errors.contains("--both-units"))
  }
}
