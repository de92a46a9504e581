// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Ingest
import Logbook
import LogbookStore

/// Imports another store of the same person, such as that of another computer.
struct StoreImport {
  private let command: ImportCommand
  private let path: String
  private let target: ImportTarget
  private let output: Output
  private let isSameStore: Bool

  /// Opens the input; nil if the file is not a store.
  init?(_ command: ImportCommand, _ path: String, _ target: ImportTarget, _ output: Output) {
    // If the input is the store itself, its file must not be opened and closed here. Closing any descriptor
    // of a file ends the locks of this process on it.
    isSameStore = Host.isSameFile(path, target.path)
    guard isSameStore || Store.isStore(path: path) else { return nil }
    (self.command, self.path, self.target, self.output) = (command, path, target, output)
  }

  func run() throws -> ExitStatus {
    guard !isSameStore else {
      throw Failure(.usage, "\(displayed(path)): this is the store itself; name another one")
    }
    if let option = command.optionOfExports {
      throw Failure(.usage, "\(displayed(path)): this is a store; \(option) is only for exports")
    }
    guard command.timezone == nil else {
      throw Failure(
        .usage,
        "\(displayed(path)): this is a store, whose items have their time zone; leave out --timezone; 'glucoport config timezone' sets the zone of a logbook"
      )
    }
    let examiner = StoreExaminer(path: path)
    try examiner.requireOwnSchema(isWritten: true)
    if let damage = try examiner.examine(isDeep: true)?.defect {
      throw Failure(
        .inputOutput,
        "\(displayed(path)): this store is damaged: \(displayed(damage)); use another copy of it")
    }
    let other = try Store.unchanged(path: path)
    if !command.yes {
      let reason = try OtherStore(other, at: path).signOfOtherPerson(against: target.present, at: target.path)
      if let reason {
        throw Failure(
          .badInput,
          "\(displayed(path)): \(reason); nothing was imported; if it is of the same person, add --yes")
      }
      let devices = try other.devices()
      try OthersMeters(target.path)?.requireNone(of: devices, in: path) { $0.hint(toImport: path) }
      try OthersStores(target.path, target.present)?
        .requireNone(of: OthersStores.sample(of: other), format: StoreMerge.format, in: path) {
          $0.hint(toImport: path)
        }
    }
    let store = try target.store()
    let merge = try StoreMerge(other, named: path, at: Host.now())
    try merge.requireCommonZone(with: store)
    let kept = try command.dryRun ? nil : keepCopy(of: store)
    let report = try merge.report(into: store)
    if let kept { try reportCopy(kept, report.counts) }
    return try command.show(report, in: { store }, output)
  }

  /// Copies the store before a merge, since `undo` cannot reverse a merge. Earlier copies are kept. When all
  /// 99 names of copies are used, the last copy is replaced.
  private func keepCopy(of store: Store) throws -> BackupFile {
    let paths = Store.beforeMerges.map { store.path + $0 }
    let kept = try paths.first { try !Store.exists(path: $0) } ?? paths[paths.count - 1]
    return try BackupFile.replace(kept, by: store, part: kept + ".part")
  }

  /// Prints the name of the copy. If the merge changed nothing, or the store was empty, the copy is removed.
  private func reportCopy(_ kept: BackupFile, _ counts: IngestCounts) throws {
    let isChanged =
      counts.newReadings + counts.correctedReadings + counts.newRecords + counts.updatedRecords
      + counts.deletedRecords > 0
    guard isChanged, kept.readings + kept.records > 0 else {
      unlink(PathText.bytes(kept.path))
      return
    }
    if !command.quiet, !command.json {
      output.message(
        "glucoport: the store as it was before is kept in \(displayed(kept.path)); 'glucoport restore' makes it the store again"
      )
    }
  }
}

/// Another store, which a merge or a restore is about to use.
struct OtherStore {
  private let other: Store
  private let path: String

  init(_ other: Store, at path: String) { (self.other, self.path) = (other, path) }

  /// Why this store seems to be of another person than the store `mine`; nil if nothing shows that.
  ///
  /// - Parameters:
  ///   - mine: the store that gets the data; nil if it does not exist yet.
  ///   - place: the path of that store, by which its person is found.
  func signOfOtherPerson(against mine: Store?, at place: String) throws -> String? {
    let persons = try PersonList.load()
    let own = persons.owner(ofStore: place)
    if let owner = persons.owner(ofStore: path), owner != own {
      return "this is the store of \(displayed(owner.name))"
    }
    for person in persons.all where person != own {
      if try isBackup(of: person.store) { return "this is a backup of \(displayed(person.name))" }
    }
    // A backup of the store `mine` is accepted, even if it was made before `mine` was synced with another
    // logbook.
    guard let mine, try !isBackup(of: place) else { return nil }
    if let own = try mine.syncedLogbook(), let theirs = try other.syncedLogbook(), own != theirs {
      return "this store was synced with another logbook"
    }
    let stated = try other.statedInSettings()
    let verdicts = try [mine.verdict(on: stated), mine.verdict(onPersonOf: other)]
    let agrees = try StatedPerson.agree(mine.statedInSettings(), stated)
    for case .other(let ingest, _, _) in verdicts where agrees != true {
      return "this store is of another person than import \(ingest)"
    }
    if agrees == false { return "this store has another name or date of birth in its settings" }
    guard agrees == nil, !verdicts.contains(.same), try mine.cannotComparePerson(with: other) else {
      return nil
    }
    return
      "imports of this store state its person, and so do those of the other one, but they cannot be compared"
  }

  /// Whether the notes of a store list the file as one of its backups, by its path or by its bytes. A copy of
  /// a backup has another path.
  func isBackup(of store: String) throws -> Bool {
    let notes = BackupNotes(storePath: store)
    return try notes.notes().contains { Host.isSameFile($0.path, path) }
      || notes.backupNote(ofBytesAt: path) != nil
  }
}

extension Store {
  /// The name and the date of birth in the settings of the store.
  fileprivate func statedInSettings() throws -> [StatedPerson] {
    let name = try personName().flatMap { StatedPerson(name: $0) }
    let born = try personBorn().flatMap { StatedPerson(birthDate: $0) }
    return [name, born].compactMap(\.self)
  }
}

extension StatedPerson {
  /// Whether both lists describe one person. The dates of birth are compared, else the names. The result is
  /// nil if neither a date of birth nor a name is in both lists.
  fileprivate static func agree(_ one: [StatedPerson], _ other: [StatedPerson]) -> Bool? {
    for kind in [StatementKind.birthDate, .name] {
      guard let mine = one.first(where: { $0.kind == kind }),
        let theirs = other.first(where: { $0.kind == kind })
      else { continue }
      return agree(mine.words, theirs.words)
    }
    return nil
  }
}
