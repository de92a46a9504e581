// SPDX-License-Identifier: Apache-2.0

/// Everything that is known about this computer and its store, as the checks need it. Nothing in it was changed to know it.
package struct Facts: Sendable {
  /// The program and its libraries.
  package var program: ProgramFacts
  /// The store's folder and the files in it; nil where no store is named.
  package var folders: FolderFacts?
  /// What is in the store.
  package var store: StoreFacts
  /// The clock of this computer.
  package var clock: ClockFacts
  /// The meters that are plugged in.
  package var usb: MeterFacts
  /// The rules of udev.
  package var udev: RuleFacts
  /// The server; nil without one.
  package var remote: RemoteFacts?
  /// What runs glucoport regularly.
  package var jobs: JobFacts
  /// The backups of the store; nil without a store.
  package var backups: BackupFacts?

  /// All that is known.
  package init(
    program: ProgramFacts, folders: FolderFacts?, store: StoreFacts, clock: ClockFacts, usb: MeterFacts,
    udev: RuleFacts, remote: RemoteFacts?, jobs: JobFacts, backups: BackupFacts?
  ) {
    self.program = program
    self.folders = folders
    self.store = store
    self.clock = clock
    self.usb = usb
    self.udev = udev
    self.remote = remote
    self.jobs = jobs
    self.backups = backups
  }
}

/// The checks over the facts, area by area.
package struct Checkup {
  private let facts: Facts

  /// A checkup of what is known.
  package init(_ facts: Facts) { self.facts = facts }

  /// The findings in the order of the areas. An area in which all is well has one that says what was looked at.
  package var findings: [Finding] {
    facts.program.findings + (facts.folders?.findings ?? []) + facts.store.findings + facts.clock.findings
      + facts.usb.findings + facts.udev.findings + remote + facts.jobs.findings
      + (facts.backups?.findings ?? [])
      + (facts.folders?.leftovers ?? [])
  }

  private var remote: [Finding] {
    facts.remote?.findings ?? [Finding(.remote, .ok, "the store has no remote")]
  }
}
