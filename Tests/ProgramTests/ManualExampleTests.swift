// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the commands that the manual pages show. The commands in glucoport-store(5) are run as they are
/// printed.
@Suite(.timeLimit(.minutes(10)))
struct ManualExampleTests {
  /// The example that contains this text.
  private func example(with text: String) throws -> String {
    let page = URL(filePath: Samples.path("../man/glucoport-store.5"))
    let blocks = try String(contentsOf: page, encoding: .utf8).components(
      separatedBy: ".Bd -literal -offset indent\n")
    let examples = blocks.dropFirst().map { $0.components(separatedBy: "\n.Ed")[0] }
    let lines = try #require(examples.first { $0.contains(text) })
    #expect(lines.hasPrefix("$ "))
    return String(lines.dropFirst(2))
  }

  /// A store `logbook.db` with values in both units and out of range, a ketone value, a control solution, and
  /// a withdrawn value.
  private func program() async throws -> Program {
    let program = try Program()
    let columns =
      "item,kind,time,device_time,utc_offset,offset_source,value,unit,range,threshold,marks,vendor,model,serial,format,position_kind,position,value_bucket,occurrence,guid,entry_guid,fields,deleted"
    func row(_ minute: Int, _ kind: String, _ cells: String, valueBucket: Int) -> String {
      let time = "2026-05-06T08:\(minute):00"
      return
        "reading,\(kind),\(time)Z,\(time),Z,stated,\(cells),V,M,S,f,time,\(1_778_054_400 + minute * 60),\(valueBucket),0,,,,"
    }
    let rows = [
      columns, row(10, "smbg", "100,mg/dL,,,", valueBucket: 56),
      row(11, "smbg", "10,mmol/L,,,", valueBucket: 100),
      row(12, "smbg", ",mg/dL,high,,", valueBucket: -2), row(13, "ketone", "0.4,mmol/L,,,", valueBucket: 4),
      row(14, "smbg", "250,mg/dL,,,control-solution", valueBucket: 139),
      row(15, "smbg", "400,mg/dL,,,", valueBucket: 222),
    ]
    try program.write(rows.joined(separator: "\n") + "\n", to: "rows.csv")
    let made = try await program.shell(
      """
      set -e; export GLUCOPORT_STORE=logbook.db; umask 022
      glucoport import --quiet --timezone UTC rows.csv
      id=$(glucoport list --long | grep ' 400 mg/dL' | grep -o 'r1[.][^ ]*')
      glucoport reading hide $id --quiet
      glucoport record add insulin 4.5 --subtype rapid --at 2026-05-06T12:00 --quiet
      glucoport record add insulin 3 --subtype rapid --at 2026-05-06T18:00 --quiet
      """)
    #expect(made.status == 0, "\(made.errors)")
    return program
  }

  /// The lines of a page that are displayed for copying, as they should be printed.
  private func displayedLines(of page: String) -> [String] {
    var (lines, isLiteral): ([String], Bool) = ([], false)
    for line in page.components(separatedBy: "\n") {
      if line.hasPrefix(".Bd -literal") { isLiteral = true }
      if line == ".Ed" { isLiteral = false }
      let isDisplay = line.hasPrefix(".Dl ")
      guard isDisplay || isLiteral && !line.hasPrefix(".") else { continue }
      let text = (isDisplay ? String(line.dropFirst(4)) : line).replacing(#"\(dq"#, with: "\"")
        .replacing(#"\e"#, with: "\\").replacing(#"\&"#, with: "")
      // Lines with escaped characters show output, so they are left out.
      if !text.contains(#"\("#) { lines.append(String(text.drop { $0 == " " })) }
    }
    return lines
  }

  /// mdoc would remove the quotes of a `.Dl` and break it at the end of the line. The command would then fail
  /// when it is copied.
  @Test func everyExampleLineInTheManualIsDisplayedUnchanged() async throws {
    let folder = URL(filePath: Samples.path("../man"))
    var count = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
      let file = folder.appending(path: name)
      let page = try await Program().shell(
        "mandoc -T utf8 -O width=78 '\(file.path)' | sed 's/.\\x08//g'")
      #expect(page.status == 0 && page.errors == "", "mandoc comes with the package of that name")
      let printed = Set(page.output.components(separatedBy: "\n").map { String($0.drop { $0 == " " }) })
      for line in displayedLines(of: try String(contentsOf: file, encoding: .utf8)) {
        count += 1
        #expect(printed.contains(line), "\(name)")
      }
    }
    #expect(count > 200)
  }

  @Test func theManualQueryForDailyMeansUsesOneUnitAndCountedReadings() async throws {
    let outcome = try await program().shell(try example(with: "avg(value_mgdl)"))
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.output == "2026-05-06|2|140.0\n")
  }

  @Test func theManualQueryForDailyInsulinAddsUpTheDoses() async throws {
    let outcome = try await program().shell(try example(with: "subtype = 'rapid'"))
    #expect(outcome.output == "2026-05-06|7.5\n", "\(outcome.errors)")
  }

  @Test func theManualQueryForNewestReadingsListsCountedReadings() async throws {
    let outcome = try await program().shell(try example(with: "DISTINCT partition"))
    let expected = ["14:00Z|250.0|mg/dL", "13:00Z|0.4|mmol/L", "12:00Z||mg/dL"]
    #expect(outcome.output == expected.map { "2026-05-06T08:\($0)\n" }.joined(), "\(outcome.errors)")
  }

  @Test func aCopyOfTheStoreMadeAsInTheManualIsPrivate() async throws {
    let program = try await program()
    let outcome = try await program.shell("umask 022; " + (try example(with: ".backup")))
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try mode(of: program.path("copy.db")) == 0o600)
    let counts = try ["reading", "record"].map { try StoreFile(program.path("copy.db")).count($0) }
    #expect(counts == [6, 3])
    #expect(try mode(of: program.path("logbook.db")) == 0o600)
  }
}
