// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests the program in an environment that names no data folder, as in some cron jobs.
@Suite(.timeLimit(.minutes(10))) struct HomelessTests {
  @Test(arguments: ["", "HOME= XDG_DATA_HOME=", "HOME=here", "XDG_DATA_HOME=there HOME=."])
  func withoutAHomeFolderNothingIsCreatedInTheCurrentFolder(_ environment: String) async throws {
    let program = try Program()
    try program.write("time,glucose (mg/dL)\n2026-05-06T07:10:00,100\n", to: "rows.csv")
    let before = try FolderListing(program.folder)
    let outcome = try await program.shell(
      """
      glucoport=$(command -v glucoport)
      try() { env -i \(environment) "$glucoport" "$@" >/dev/null 2>>/dev/stderr; echo $?; }
      try record add note x; try import rows.csv; try status; try upload; try serve token list; try serve
      """)
    #expect(outcome.output == "78\n78\n78\n78\n78\n78\n", "\(outcome)")
    let told = outcome.errors.split(separator: "\n")
    #expect(told.allSatisfy { $0.contains("set HOME or XDG_DATA_HOME") }, "\(outcome)")
    #expect(told.count { $0.contains("--store or GLUCOPORT_STORE") } == 4, "\(outcome)")
    #expect(told.count { $0.contains("--data") } == 2, "\(outcome)")
    #expect(try FolderListing(program.folder) == before)
  }

  @Test func aStoreGivenByItsPathNeedsNoHomeFolder() async throws {
    let outcome = try await Program().shell(
      """
      glucoport=$(command -v glucoport)
      env -i "$glucoport" record add note x --store a.db >/dev/null; echo $?
      env -i GLUCOPORT_STORE=a.db "$glucoport" status >/dev/null; echo $?
      env -i "$glucoport" serve token list --data served; echo $?
      env -i "$glucoport" meter info >/dev/null 2>&1; [ $? = 78 ] && echo "no zone"
      """)
    #expect(outcome.output == "0\n0\n0\n", "\(outcome)")
  }
}
