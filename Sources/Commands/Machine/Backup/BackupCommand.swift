// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Glibc
import Logbook
import LogbookStore

/// `glucoport backup`: makes a copy of the store with its content at one moment.
struct BackupCommand: PersonVisitor, PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "backup", "Copy the store, while others use it.",
    """
    The copy is checked and private, and appears under its name whole or not at all. Equal content \
    gives equal bytes. In a folder it gets the date as its name; '-' writes it to standard output.
    """,
    examples: "glucoport backup ~/backup --keep 7", "glucoport backup - | age -r RECIPIENT > logbook.age")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: ArgumentHelp("A new file, an existing folder, or - for standard output.", valueName: "target"))
  var target: PathArgument

  @Option(
    help: ArgumentHelp("In a folder: keep only the newest N backups of this store.", valueName: "number"))
  var keep: Int?

  @Flag(help: "Write what this computer has besides the store into a second file.")
  var withSettings = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  var needsNoHeading: Bool { true }

  func validateForSeveral() throws {
    guard BackupPlace(target: target.path, store: "", now: 0).isFolder else {
      throw Failure(
        .usage,
        "\(displayed(target.path)): the backups of several persons need a folder that exists; or choose one with --person"
      )
    }
  }

  func validate() throws {
    if let keep, !(1...BackupNotes.maxKept).contains(keep) {
      throw ValidationError("--keep is a whole number from 1 to \(BackupNotes.maxKept).")
    }
    if target.path == "" { throw ValidationError("Name a file, a folder or '-'.") }
    if json, quiet { throw ValidationError("Use only one of --json and --quiet.") }
    if target.path == "-", json || keep != nil || withSettings {
      throw ValidationError(
        "With '-', standard output is the backup; --json, --keep and --with-settings do not go with it.")
    }
  }

  func run(_ output: Output) throws {
    Host.keepFilesPrivate()
    let store = try storeOptions.open(.reader)
    if target.path == "-" { return try stream(store, output) }
    let place = BackupPlace(target: target.path, store: store.path, now: Host.now())
    if keep != nil, !place.isFolder {
      let command = displayed("mkdir -p \(target.path.shellWord)")
      throw Failure(
        .usage, "\(displayed(target.path)): not a folder, which --keep needs; make it first: \(command)")
    }
    let protected = ProtectedFiles(store: store.path, remote: try store.remote())
    try protected.refuse(place.file)
    try protected.refuse(part: place.part)
    let settings = try withSettings ? settings(of: store, place, protected) : nil
    let backup = try BackupFile.make(of: store, at: place.file, part: place.part)
    let older =
      try keep.map { _ in try place.earlierBackups(BackupNotes(storePath: store.path).notes()) } ?? []
    addToNotes(backup, of: store, output)
    let removed = try keep.map { try place.remove(older.dropLast($0 - 1)) } ?? []
    if !quiet {
      try output.result(
        asJSON: json, BackupObject(backup, removed: removed),
        orLines: BackupText.lines(backup) + (settings.map { Self.lines(of: $0, place) } ?? [])
          + removed.map { "  removed \(displayed($0))" })
    }
  }

  /// Writes the settings of this computer to a file next to the backup. They are written before the backup:
  /// otherwise, after a killed run, a backup could have the settings of an earlier backup with its name.
  private func settings(
    of store: Store, _ place: BackupPlace, _ protected: ProtectedFiles
  ) throws -> BackupSettings {
    let settings = try BackupSettings(of: store)
    let bytes = Array((try OrderedJSON.text(settings) + "\n").utf8)
    // If a backup has this name, the new backup fails, and the existing one keeps its settings.
    guard try !Store.exists(path: place.file) else { return settings }
    // A file of settings without a backup is replaced, since a killed run left it.
    try SavedFile(path: place.file + BackupSettings.suffix, replaces: true, protected: protected).write {
      sink in try bytes.withUnsafeBytes(sink)
    }
    return settings
  }

  private static func lines(of settings: BackupSettings, _ place: BackupPlace) -> [String] {
    let secret = settings.tokenFile ?? settings.tokenCommand
    return ["  settings \(displayed(place.file + BackupSettings.suffix))"]
      + (secret.map { ["  not in either file: the token of the remote, from \(displayed($0))"] } ?? [])
  }

  private func stream(_ store: Store, _ output: Output) throws {
    guard !Host.isTerminal(STDOUT_FILENO) else {
      throw Failure(.usage, "standard output is a terminal; redirect it, or name a file")
    }
    let folder = Host.environment("TMPDIR") ?? "/tmp"
    let backup = try BackupFile.stream(store, in: folder) { piece in
      output.write(piece)
      try output.requireOpenOutput()
    }
    try output.finish()
    addToNotes(backup, of: store, output)
    if !quiet { for line in BackupText.lines(backup) { output.message(line) } }
  }

  /// Adds the finished backup to the notes about backups, a file next to the store. The backup is complete
  /// already, so an error is only reported.
  private func addToNotes(_ backup: BackupFile, of store: Store, _ output: Output) {
    do {
      try BackupNotes(storePath: store.path).add(
        BackupNote(
          madeAt: Host.now(), path: backup.path.isEmpty ? "" : Host.absolute(backup.path), size: backup.size,
          sha256: backup.sha256))
    } catch {
      output.message(
        "glucoport: \(error.message); the backup is complete, and 'glucoport doctor' will not know of it")
    }
  }
}

/// The path at which a new backup is made.
struct BackupPlace {
  /// The path of the finished backup.
  let file: String
  /// The path to which the backup is written before it is renamed to `file`. Only a killed run leaves a file
  /// at this path.
  let part: String
  let isFolder: Bool
  private let folder: String

  private static let suffix = ".db"
  private static let partSuffix = ".glucoport.part"

  /// - Parameter now: the host's clock in UTC seconds, for the name of a backup in a folder.
  init(target: String, store: String, now: Int64) {
    isFolder = Host.isFolder(target)
    let name = store.split(separator: "/").last.map(String.init) ?? store
    let prefix = (name.hasSuffix(Self.suffix) ? String(name.dropLast(Self.suffix.count)) : name) + "-"
    folder = target
    guard isFolder else {
      (file, part) = (target, target + Self.partSuffix)
      return
    }
    let base = target.hasSuffix("/") ? target : target + "/"
    file = Self.unusedPath(base + prefix + Self.stamp(now))
    part = base + prefix + "backup" + Self.partSuffix
  }

  /// The first file name that begins with `name` and does not exist. Another store of the same name may be
  /// backed up in the same second, so a number is added if necessary.
  private static func unusedPath(_ name: String) -> String {
    var (path, number) = (name + suffix, 1)
    while access(PathText.bytes(path), F_OK) == 0, number < 100 {
      number += 1
      path = "\(name)-\(number)\(suffix)"
    }
    return path
  }

  /// The time in a file name: `2026-05-06T163000Z`. Such names sort by time, and every file system allows
  /// them.
  static func stamp(_ now: Int64) -> String {
    DeviceTime(seconds: now).text.replacing(":", with: "") + "Z"
  }

  /// The paths of the store's earlier backups in this folder, oldest first, from the notes about backups.
  /// The file names do not suffice to find them: two stores can have equal names, and the clock can have been
  /// wrong. The path of the new backup is left out: the notes may have it from a removed backup.
  func earlierBackups(_ notes: [BackupNote]) -> [String] {
    let base = folder.hasSuffix("/") ? folder : folder + "/"
    var paths: [String] = []
    for note in notes {
      guard let name = note.path.split(separator: "/").last, base + name != file,
        Host.isSameFile(note.path, base + name), Host.isRegularFile(note.path)
      else { continue }
      paths.removeAll { $0 == base + name }
      paths.append(base + name)
    }
    return paths
  }

  /// Removes backups and their settings; returns the paths of the backups.
  ///
  /// - Throws: `Failure` of category `inputOutput`.
  func remove(_ paths: some Sequence<String>) throws -> [String] {
    try paths.map { path in
      for file in [path, path + BackupSettings.suffix] {
        guard unlink(PathText.bytes(file)) == 0 || errno == ENOENT else {
          throw Failure(
            .inputOutput,
            "\(displayed(file)): an older backup that cannot be removed: \(String(cString: strerror(errno)))")
        }
      }
      return path
    }
  }
}

/// The texts about a backup.
enum BackupText {
  static func lines(_ backup: BackupFile) -> [String] {
    let path = backup.path.isEmpty ? "standard output" : displayed(backup.path)
    return [
      "\(path): \(ByteCountArgument.rounded(backup.size)), \(counted(backup.readings, "reading")), \(counted(backup.records, "record"))",
      "  sha256 \(backup.sha256)",
    ]
  }
}

/// A backup for `backup --json`; glucoport-json(5) documents the members.
struct BackupObject: Encodable {
  let file: String
  let size: Int64
  let sha256: String
  let readings: Int
  let records: Int
  let removed: [String]

  init(_ backup: BackupFile, removed: [String]) {
    (file, size, sha256) = (backup.path, backup.size, backup.sha256)
    (readings, records) = (backup.readings, backup.records)
    self.removed = removed
  }
}
