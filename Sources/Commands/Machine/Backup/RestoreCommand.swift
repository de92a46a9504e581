// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore
import Sync

/// `glucoport restore`: replaces the store by a backup.
struct RestoreCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "restore", "Make a backup the store.",
    """
    The backup is checked first. What only the present store has is shown, and the present store \
    is kept beside it as '….before-restore'. On a terminal, the command asks first.
    """,
    examples: "glucoport restore ~/backup/logbook-2026-05-06T163000Z.db",
    "glucoport restore logbook.db --yes")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: ArgumentHelp("The backup.", valueName: "file"))
  var file: PathArgument

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Restore it although it seems to be of another person.")
  var otherPerson = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    let path = try storeOptions.path
    let present = try storeOptions.existing()
    guard try Store.exists(path: file.path) else {
      throw Failure(.missingInput, "\(displayed(file.path)): No such file")
    }
    guard !Host.isSameFile(file.path, path) else {
      throw Failure(.usage, "\(displayed(file.path)): this is the store itself; name a backup of it")
    }
    try requireForeignName(besides: path)
    let examiner = StoreExaminer(path: file.path)
    try examiner.requireOwnSchema(isWritten: true)
    let examined = try examiner.examine(isDeep: true, against: present?.path)
    guard let examined else {
      throw Failure(.badInput, "\(displayed(file.path)): the file is empty, and no backup")
    }
    if let damage = examined.defect {
      throw Failure(
        .inputOutput,
        "\(displayed(file.path)): this backup is damaged: \(displayed(damage)); restore another one")
    }
    let backup = try Store.unchanged(path: file.path)
    if !otherPerson { try requireSamePerson(backup, present, path) }
    try warn(ofChangeIn: BackupNotes(storePath: path), output)
    let settings = try BackupSettings.next(to: file.path)
    if let present {
      guard
        try BackupFile.measure(backup, part: path + ".restoring").sha256
          != BackupFile.measure(present, part: path + ".restoring").sha256
      else {
        if !quiet {
          output.line("unchanged: \(displayed(path)) has all that the backup has, and nothing else")
        }
        return
      }
      try confirm(examined.comparison, output)
      guard let lock = try UploadLock.acquire(storePath: present.path) else {
        throw Failure(.temporary, "\(displayed(path)): an upload runs; try again when it has ended")
      }
      defer { lock.release() }
      // The backup is copied first, since it may be the file `.before-restore` that is overwritten below.
      let incoming = path + ".restoring"
      _ = try BackupFile.replace(incoming, by: backup, part: incoming + ".part")
      defer { unlink(PathText.bytes(incoming)) }
      let kept = path + ".before-restore"
      try Store(path: path, role: .editor).replace(by: incoming) {
        _ = try BackupFile.replace(kept, by: present, part: kept + ".part")
      }
      if !quiet { output.line("kept: \(displayed(kept)), the store as it was before") }
    } else {
      try Host.makeFolder(PathText.folder(of: Host.absolute(path)))
      _ = try BackupFile.make(of: backup, at: path, part: path + ".part")
    }
    let counts = try StoreExaminer(path: path).checkedCounts()
    if !quiet {
      output.line(
        "restored: \(displayed(path)), \(counted(counts.readings, "reading")), \(counted(counts.records, "record"))"
      )
      for line in missingFileLines(examined.remote) { output.line(line) }
      for line in try settings?.missing(for: path) ?? [] { output.line(line) }
    }
  }

  /// Refuses a backup that seems to be of another person than the store, by the same signs as a merge.
  ///
  /// - Throws: `Failure` of category `badInput` for such a backup.
  private func requireSamePerson(_ backup: Store, _ present: Store?, _ path: String) throws {
    let advice = "if it is of the same person, add --other-person"
    let other = OtherStore(backup, at: file.path)
    if let reason = try other.signOfOtherPerson(against: present, at: path) {
      throw Failure(.badInput, "\(displayed(file.path)): \(reason); nothing was restored; \(advice)")
    }
    // A backup of this store is accepted, whatever the stores of other persons have in common with it.
    if try other.isBackup(of: path) { return }
    let outcome = "nothing is restored"
    let devices = try backup.devices().filter { try present?.hasShownReadings(of: $0) != true }
    try OthersMeters(path)?.requireNone(of: devices, in: file.path, outcome: outcome) { _ in advice }
    guard let stores = try OthersStores(path, present, outcome: outcome) else { return }
    try stores.requireNoCopy(backup, in: file.path) { _ in advice }
    try stores.requireNone(
      of: OthersStores.sample(of: backup), format: StoreMerge.format, in: file.path
    ) { _ in advice }
  }

  /// Warns if the bytes of the backup file have changed since the backup was made. A failing disk may have
  /// altered a value, although the file can still be read.
  private func warn(ofChangeIn notes: BackupNotes, _ output: Output) throws {
    let note = try notes.notes().last { Host.isSameFile($0.path, file.path) }
    guard let note, try !note.isUnchanged() else { return }
    output.message(
      "glucoport: warning: \(displayed(file.path)): this file was changed after the backup of \(instant(note.madeAt)): its SHA-256 is not the one that was noted"
    )
  }

  /// Refuses a backup file that has the name of a temporary file of this command. The command would overwrite
  /// such a backup.
  private func requireForeignName(besides path: String) throws {
    let own = [".part", ".restoring", ".restoring.part", ".before-restore.part"].map { path + $0 }
    for name in own where Host.isSameFile(file.path, name) {
      throw Failure(
        .usage, "\(displayed(file.path)): this command uses a file of this name itself; rename the backup")
    }
  }

  private func confirm(_ comparison: StoreComparison?, _ output: Output) throws {
    let missing = comparison?.missing ?? 0
    if missing > 0 {
      output.message(
        "\(counted(missing, "reading or record", "readings and records")) of the present store \(missing == 1 ? "is" : "are") not in the backup"
      )
    }
    guard !yes else { return }
    guard Confirmation.canAsk else {
      throw Failure(.usage, "no terminal to ask whether the backup replaces the store; add --yes")
    }
    try Confirmation.require("Replace the store by this backup?", otherwise: "nothing was restored", output)
  }

  /// Lines about files that the restored store needs on this computer, since a backup does not contain them.
  private func missingFileLines(_ remote: ExaminedRemote?) -> [String] {
    guard let access = remote?.access else { return [] }
    let again = "'glucoport remote set \(displayed(access.url))' asks for it again"
    switch access.token {
    case .file(let path) where Host.bytes(of: path) == nil:
      return ["  the token of \(displayed(access.url)) is not here: \(displayed(path)); \(again)"]
    case .command(let command):
      return [
        "  the token of \(displayed(access.url)) comes from '\(displayed(command))', which this computer needs, too"
      ]
    case .file: return []
    }
  }
}
