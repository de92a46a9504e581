// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `glucoport doctor` with the built program. The tests ignore findings about the machine on which they
/// run.
@Suite(.timeLimit(.minutes(10))) struct DoctorCommandTests {
  private static let areas = [
    "program", "folders", "store", "clock", "usb", "bluetooth", "udev", "remote", "sources", "jobs",
    "backups", "leftovers",
  ]

  private func programWithStore() async throws -> Program {
    let program = try Program()
    let made = try await program.run("record", "add", "note", "x", "--quiet")
    #expect(made.status == 0, "\(made)")
    return program
  }

  /// Runs `doctor` and returns the findings in these areas, each as its state and its area.
  ///
  /// - Parameter hasStore: whether a store exists. Without a store, `doctor` does not check backups.
  private func findings(
    _ program: Program, _ areas: Set<String>, _ arguments: String..., hasStore: Bool = true
  ) async throws -> [String] {
    let outcome = try await program.run(arguments: ["doctor", "--json"] + arguments)
    let objects = try outcome.objects()
    let found = objects.compactMap { $0["check"] as? String }
    var order: [String] = []
    for area in found where order.last != area { order.append(area) }
    #expect(order == Self.areas.filter { hasStore || $0 != "backups" }, "\(outcome)")
    #expect(objects.allSatisfy { Set($0.keys) == ["check", "state", "detail", "fix", "person"] })
    return objects.filter { areas.contains($0["check"] as? String ?? "") }.map {
      "\($0["state"] as? String ?? "") \($0["check"] as? String ?? "")"
    }
  }

  private static let own: Set<String> = ["program", "folders", "store", "remote", "leftovers"]

  @Test(arguments: [[], ["--deep"], ["--online"]])
  func doctorReportsANewStoreAsGoodAndWritesNothing(_ options: [String]) async throws {
    let program = try await programWithStore()
    let before = try FolderListing(program.folder)
    let outcome = try await program.run(arguments: ["doctor"] + options)
    #expect(outcome.errors == "" && [0, 1, 77].contains(outcome.status), "\(outcome)")
    #expect(try FolderListing(program.folder) == before)
    let found = try await findings(program, Self.own)
    #expect(found == ["ok program", "ok folders", "ok store", "ok remote", "ok leftovers"])
  }

  @Test func withoutAStoreDoctorChecksEverythingElse() async throws {
    let program = try Program()
    #expect(
      try await findings(program, ["folders", "store"], hasStore: false) == ["ok folders", "note store"])
    #expect(!FileManager.default.fileExists(atPath: program.path("data")))
  }

  @Test func withoutAHomeFolderDoctorEndsWithAConfigurationError() async throws {
    let outcome = try await Program().shell(
      "p=$(command -v glucoport); env -i \"$p\" doctor >found; echo $?; grep -c '^fail  store:' found")
    #expect(outcome.output == "78\n1\n", "\(outcome)")
  }

  @Test func doctorWarnsOfAFolderReadableByOthersWithACommand() async throws {
    let program = try await programWithStore()
    let outcome = try await program.shell(
      """
      chmod 755 data/glucoport; glucoport doctor >found; echo $?
      grep '^warn  folders: ' found | sed 's/.*; run: //' >mend; sh mend; glucoport doctor | grep -c '^ok    folders: '
      """)
    #expect(outcome.output.hasSuffix("\n1\n") && !outcome.output.hasPrefix("0\n"), "\(outcome)")
    #expect(try mode(of: program.path("data/glucoport")) == 0o700)
  }

  @Test func doctorReportsADamagedStoreAndStillChecksEverythingElse() async throws {
    let program = try await programWithStore()
    let file = try FileHandle(forUpdating: URL(filePath: program.store))
    for page in 1...20 {
      try file.seek(toOffset: UInt64(page * 16384))
      try file.write(contentsOf: [0x5A])
    }
    try file.close()
    #expect(try await findings(program, ["program", "store"]) == ["ok program", "fail store"])
    let outcome = try await program.run("doctor")
    #expect([74, 77].contains(outcome.status), "\(outcome)")
  }

  @Test func doctorReportsAFileThatIsNotAStoreAsAFailure() async throws {
    let program = try Program()
    try program.write(String(repeating: "no store ", count: 100), to: "other.db")
    #expect(
      try await findings(program, ["store"], "--store", program.path("other.db"), hasStore: false) == [
        "fail store"
      ])
  }

  @Test func doctorContactsTheServerOnlyOnRequest() async throws {
    let outcome = try await Program().shell(
      ServerScript.clients + """
        serve; connect a; export GLUCOPORT_STORE=a.db
        glucoport doctor | grep -c '^ok    remote: '
        glucoport doctor --online | grep -c '^ok    remote: .*anna'
        stop >/dev/null
        glucoport doctor | grep -c '^ok    remote: '
        glucoport doctor --online >found; grep -c '^fail  remote: ' found
        """)
    #expect(outcome.output == "1\n1\n1\n1\n", "\(outcome)")
  }
}
