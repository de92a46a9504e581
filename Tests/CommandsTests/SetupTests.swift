// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

@testable import Commands
@testable import glucoport

/// Tests the systemd units that `setup` and the packages install. `Tests/packaging.sh` checks that both
/// install the same units.
@Suite struct PackagedTextTests {
  @Test func eachSystemdUnitRunsOnlyThePackagedProgram() {
    for unit in PackagedUserUnits.files + PackagedSystemUnits.files {
      let starts = unit.text.split(separator: "\n").filter { $0.hasPrefix("Exec") }
      let programs = starts.compactMap { $0.split(separator: "=")[1].split(separator: " ").first }
      #expect(
        programs.allSatisfy {
          ["/usr/bin/glucoport", "-/usr/bin/glucoport", "/usr/bin/notify-send", "/bin/kill"].contains($0)
        },
        "\(unit.name)")
    }
  }

  /// A failed upload sends no notification: it is repeated, and the daily check reports it if it always
  /// fails.
  @Test func onlyAFailedImportOrStatusCheckNotifiesThePerson() {
    let notifying = PackagedUserUnits.files.filter {
      $0.text.contains("\nOnFailure=glucoport-notify@%n.service\n")
    }
    #expect(
      notifying.map(\.name) == [
        "glucoport-backup.service", "glucoport-check.service", "glucoport-meter.service",
        "glucoport-meter-bluetooth.service",
      ])
    // Exit status 69 counts as a failure of the unit, since a connected meter could not be read.
    let meter = PackagedUserUnits.files.first { $0.name == "glucoport-meter.service" }
    #expect(meter?.text.contains("\nSuccessExitStatus=75\n") == true)
    #expect(PackagedSystemUnits.files.allSatisfy { !$0.text.contains("SuccessExitStatus=69") })
    let check = PackagedUserUnits.files.first { $0.name == "glucoport-check.service" }
    #expect(check?.text.contains(" status --check --max-age 36h --max-reading-age 7d --quiet\n") == true)
  }

  @Test func theProgramAcceptsEveryCommandInASystemdUnit() {
    for unit in PackagedUserUnits.files + PackagedSystemUnits.files {
      for line in unit.text.split(separator: "\n")
      where line.contains("/usr/bin/glucoport ") && line.hasPrefix("Exec") {
        let words = line.split(separator: " ").dropFirst().map(String.init).filter { !$0.hasPrefix("$") }
        #expect(throws: Never.self, "\(unit.name): \(line)") { try CommandArguments(words: words).parse() }
      }
    }
  }
}

/// Tests the manifest, which lists the files that `setup` installed.
@Suite struct SetupManifestTests {
  @Test func aWrittenInstallManifestIsReadBackUnchanged() {
    var manifest = SetupManifest()
    manifest.digests = ["/a b": String(repeating: "a", count: 64), "/c": String(repeating: "0", count: 64)]
    manifest.folders = ["/d", "/d/e f"]
    #expect(SetupManifest(manifest.text) == manifest)
    #expect(manifest.text.split(separator: "\n").count == 4)
  }

  @Test(arguments: ["", "x", "aa  /b", "# comment\n", "\(String(repeating: "a", count: 64))  relative"])
  func anInvalidLineOfAnInstallManifestIsIgnored(_ text: String) {
    #expect(SetupManifest(text) == SetupManifest())
  }

  @Test func setupRemovesAFileThatOnlyAnEarlierSetupInstalled() throws {
    let program = try Program()
    let work = SetupWork(manifest: program.path("state/manifest"))
    func plan(_ files: [String: String]) -> SetupPlan {
      SetupPlan(
        files: files.sorted { $0.key < $1.key }.map {
          SetupFile(path: program.path($0.key), content: .text($0.value))
        },
        manifest: work.manifest, commands: [], missingNote: nil)
    }
    func texts() throws -> [String: String] {
      var found: [String: String] = [:]
      for name in ["a/one", "a/two"] where FileManager.default.fileExists(atPath: program.path(name)) {
        found[name] = try String(contentsOf: program.folder.appending(path: name), encoding: .utf8)
      }
      return found
    }
    #expect(try work.install(plan(["a/one": "1", "a/two": "2"])).map(\.change) == [.write, .write])
    #expect(try work.install(plan(["a/one": "1", "a/two": "2"])).map(\.change) == [.unchanged, .unchanged])
    #expect(try work.install(plan(["a/one": "3"])).map(\.change) == [.replace, .remove])
    #expect(try texts() == ["a/one": "3"])
    #expect(try work.remove().map(\.change) == [.remove])
    #expect(try FileManager.default.contentsOfDirectory(atPath: program.folder.path) == [])
  }
}

/// Tests `glucoport setup` of the built program, with folders of the test instead of the system's folders.
@Suite(.timeLimit(.minutes(10))) struct SetupTests {
  private static let user = [
    "data/bash-completion/completions/glucoport", "data/zsh/site-functions/_glucoport",
    ".config/fish/completions/glucoport.fish", ".config/systemd/user/glucoport-upload.timer",
    ".config/systemd/user/glucoport-meter.service",
  ]

  @Test func aPreviewOfSetupWritesNothing() async throws {
    let program = try Program()
    let before = try FolderListing(program.folder)
    for arguments in [
      ["setup", "--dry-run"], ["setup", "user", "--dry-run"], ["setup", "remove", "user", "--dry-run"],
    ] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 0, "\(outcome)")
      #expect(outcome.output.contains("write \(program.path(Self.user[0]))") == (arguments[1] != "remove"))
    }
    let system = ["setup", "system", "--dry-run", "--prefix", program.path("prefix")]
    #expect(try await program.run(arguments: system).status == 0)
    #expect(try FolderListing(program.folder) == before)
    #expect(try await program.run("setup").status == 64)
  }

  @Test func theUnitsAndCompletionsOfAUserAreInstalledAndRemoved() async throws {
    let program = try Program()
    let before = try FolderListing(program.folder)
    let outcome = try await program.run("setup", "user")
    #expect(outcome.status == 0 && outcome.errors.contains("systemctl --user enable --now"), "\(outcome)")
    for name in Self.user { #expect(FileManager.default.fileExists(atPath: program.path(name)), "\(name)") }
    let unit = try String(contentsOfFile: program.path(Self.user[4]), encoding: .utf8)
    #expect(!unit.contains("/usr/bin/glucoport") && unit.contains("/glucoport import --meter --if-present"))
    let preview = try await program.run("setup", "remove", "user", "--dry-run")
    #expect(preview.output.contains("remove \(program.path(Self.user[0]))"), "\(preview)")
    #expect(FileManager.default.fileExists(atPath: program.path(Self.user[0])))
    let again = try await program.run("setup", "user")
    #expect(again.status == 0 && !again.output.contains("write") && again.output.contains("unchanged"))
    let removed = try await program.run("setup", "remove", "user")
    #expect(removed.status == 0, "\(removed)")
    #expect(try FolderListing(program.folder) == before)
  }

  @Test func aFileThatSetupDidNotWriteStopsItBeforeAnythingIsWritten() async throws {
    let program = try Program()
    let made = try await program.shell("mkdir -p .config/fish/completions && echo mine >\(Self.user[2])")
    #expect(made.status == 0)
    let before = try FolderListing(program.folder)
    let outcome = try await program.run("setup", "user")
    #expect(outcome.status == 73 && outcome.errors.contains("glucoport.fish: File exists"), "\(outcome)")
    #expect(try FolderListing(program.folder) == before)
  }

  @Test func removingASetupKeepsAFileThatWasChangedSince() async throws {
    let program = try Program()
    _ = try await program.run("setup", "user")
    try program.write("mine", to: Self.user[3])
    let outcome = try await program.run("setup", "remove", "user")
    #expect(
      outcome.status == 3 && outcome.output.contains("keep \(program.path(Self.user[3]))"), "\(outcome)")
    #expect(try String(contentsOfFile: program.path(Self.user[3]), encoding: .utf8) == "mine")
    #expect(!FileManager.default.fileExists(atPath: program.path(Self.user[4])))
  }

  @Test func aSystemSetupInstallsTheProgramAndItsRemovalKeepsTheStore() async throws {
    let program = try Program()
    let outcome = try await program.shell(
      """
      glucoport record add note x --quiet; glucoport setup system --prefix $PWD/usr/ >written || exit
      cmp usr/bin/glucoport $(command -v glucoport) && stat -c %a usr/bin/glucoport usr/lib/udev/rules.d/70-glucoport.rules
      glucoport meter udev-rules | cmp - usr/lib/udev/rules.d/70-glucoport.rules && echo rules
      grep -c "^ExecStart=$PWD/usr/bin/glucoport serve" usr/lib/systemd/system/glucoport-server.service
      usr/bin/glucoport setup system --prefix $PWD/usr | grep -vc ^unchanged; ls usr/bin
      umask 077; glucoport setup remove system --prefix $PWD/usr >removed; echo $?; ls; glucoport status | grep -c note
      """)
    #expect(
      outcome.output == "755\n644\nrules\n1\n0\nglucoport\n0\ndata\nremoved\nwritten\n1\n", "\(outcome)")
  }

  @Test func setupInstallsTheManualPagesOfTheReleaseArchive() async throws {
    let outcome = try await Program().shell(
      """
      mkdir -p here/bin here/share/man/man1; cp $(command -v glucoport) here/bin/; echo page >here/share/man/man1/glucoport.1.gz
      here/bin/glucoport setup user >/dev/null 2>told; grep -c 'manual pages' told; cat data/man/man1/glucoport.1.gz
      glucoport setup remove user >/dev/null; glucoport setup user 2>&1 >/dev/null | grep -c 'no manual pages'
      """)
    #expect(outcome.output == "0\npage\n1\n", "\(outcome)")
  }

  @Test(arguments: [
    ["setup", "system", "--prefix", "usr"], ["setup", "remove"], ["setup", "remove", "all"],
    ["setup", "remove", "user", "--prefix", "/usr"],
  ])
  func setupWithAnUnclearTargetIsAUsageError(_ arguments: [String]) async throws {
    #expect(try await Program().run(arguments: arguments).status == 64)
  }
}
