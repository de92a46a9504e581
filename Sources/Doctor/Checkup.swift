// SPDX-License-Identifier: Apache-2.0

/// The state of this computer and its store, on which the checks run. Collecting these facts changes nothing.
package struct Facts: Sendable {
  /// The program and its libraries.
  package var program: ProgramFacts
  /// The store's folder and the files in it; nil if no store was given.
  package var folders: FolderFacts?
  /// The content of the store.
  package var store: StoreFacts
  /// The clock of this computer.
  package var clock: ClockFacts
  /// The meters that are plugged in.
  package var usb: MeterFacts
  /// The paired Bluetooth meters.
  package var bluetooth = BluetoothFacts(.success([]))
  package var udev: RuleFacts
  /// The server; nil without one.
  package var remote: RemoteFacts?
  /// The jobs that run glucoport regularly.
  package var jobs: JobFacts
  /// The backups of the store; nil without a store.
  package var backups: BackupFacts?
  /// The sources from which `fetch` reads.
  package var sources: [SourceFacts] = []

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

/// Runs the checks on the facts, by area.
package struct Checkup {
  private let facts: Facts

  /// A checkup of these facts.
  package init(_ facts: Facts) { self.facts = facts }

  /// The findings in the order of the areas. An area without problems has one finding that states what was
  /// checked.
  package var findings: [Finding] {
    facts.program.findings + (facts.folders?.findings ?? []) + facts.store.findings + facts.clock.findings
      + facts.usb.findings + facts.bluetooth.findings + facts.udev.findings + remote + sources
      + facts.jobs.findings
      + (facts.backups?.findings ?? [])
      + (facts.folders?.leftovers ?? [])
  }

  private var sources: [Finding] {
    facts.sources.isEmpty
      ? [Finding(.sources, .ok, "the store has no source")] : facts.sources.flatMap(\.findings)
  }

  private var remote: [Finding] {
    facts.remote?.findings ?? [Finding(.remote, .ok, "the store has no remote")]
  }
}
