// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Doctor

/// Tests which files of udev and systemd are found in the folders of a system. A temporary folder is the
/// root of this system.
@Suite struct SystemFileTests {
  private func write(_ text: String, _ path: String, _ root: URL) throws {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// The findings if the system has these files of udev rules.
  private func found(_ files: [String: String]) throws -> [Finding] {
    var found: [Finding] = []
    try withFolder { root in
      for (path, text) in files { try write(text, path, root) }
      found = HealthyComputer.wrong { $0.udev.files = RuleFacts.installed(below: root.path) }
    }
    return found
  }

  private var rules: String { HealthyComputer.text(HealthyComputer.rules) }

  @Test(arguments: [
    "etc/udev/rules.d/70-glucoport.rules", "usr/lib/udev/rules.d/70-glucoport.rules",
    "usr/local/lib/udev/rules.d/70-meters.rules",
  ])
  func udevRulesInAnyFolderOfUdevAreReportedAsGood(_ path: String) throws {
    #expect(try found([path: rules, "etc/udev/rules.d/90-other.rules": "# other\n"]) == [])
  }

  @Test func udevRulesWithAnotherGroupAndFurtherLinesAreReportedAsGood() throws {
    let text = rules.replacing("plugdev", with: "meters") + "# more\n"
    #expect(try found(["etc/udev/rules.d/70-glucoport.rules": text]) == [])
  }

  @Test func withoutUdevRulesTheCommandThatInstallsThemIsNamed() throws {
    let found = try found(["etc/udev/rules.d/70-glucoport.rules.old": rules])
    #expect(found.map(\.state) == [.note] && found.first?.fix == "install")
  }

  @Test(arguments: [("73-seat-late.rules", 1), ("99-glucoport.rules", 1), ("72-glucoport.rules", 0)])
  func aUdevRulesFileThatSortsTooLateIsReported(_ name: String, _ count: Int) throws {
    let found = try found(["etc/udev/rules.d/" + name: rules])
    #expect(found.count == count && found.allSatisfy { $0.state == .warn && $0.area == .udev })
  }

  @Test func udevRulesOfAnotherVersionAreReported() throws {
    let found = try found([
      "etc/udev/rules.d/70-glucoport.rules": HealthyComputer.text(
        HealthyComputer.rules.filter { !$0.hasPrefix("SUBSYSTEM") })
    ])
    #expect(found.map(\.state) == [.warn] && found.first?.detail.contains("1 rules") == true)
  }

  /// udev only reads the first file with a name.
  @Test func aUdevRulesFileHiddenByOneOfTheSameNameIsIgnored() throws {
    let found = try found([
      "etc/udev/rules.d/70-glucoport.rules": RuleFacts.mark + "\n",
      "usr/lib/udev/rules.d/70-glucoport.rules": rules,
    ])
    #expect(found.map(\.state) == [.warn])
  }

  @Test func aUdevRuleForAGroupThatDoesNotExistIsReported() {
    #expect(RuleFacts.groups(in: HealthyComputer.facts.udev.files) == ["plugdev"])
    #expect(
      HealthyComputer.wrong { $0.udev.unknownGroups = ["plugdev"] }.first?.fix
        == "sudo groupadd --system 'plugdev'")
  }

  @Test func scheduledJobsAreFoundInSystemdUnitsAndCrontabs() throws {
    try withFolder { root in
      let settings = root.appending(path: "home").path
      func jobs() -> JobFacts {
        JobFacts.of(user: "anna", configuration: settings, hasRemote: true, below: root.path)
      }
      #expect(jobs().units == [] && jobs().crontabs == [] && !jobs().lingers && !jobs().hasMail)
      try write("", "home/systemd/user/timers.target.wants/glucoport-upload.timer", root)
      try write("", "var/lib/systemd/linger/anna", root)
      try write("*/15 * * * * anna glucoport upload\n", "etc/cron.d/meters", root)
      try write("17 * * * * root run-parts\n", "etc/crontab", root)
      try write("", "usr/sbin/sendmail", root)
      #expect(jobs().units == [settings + "/systemd/user/timers.target.wants/glucoport-upload.timer"])
      #expect(jobs().crontabs == [root.path + "/etc/cron.d/meters"])
      #expect(jobs().lingers && jobs().hasMail && jobs().seesCrontab)
      try write("@daily true\n", "var/spool/cron/crontabs/bob", root)
      #expect(!jobs().seesCrontab)
      #expect(jobs().findings.map(\.state) == [.ok])
    }
  }
}
