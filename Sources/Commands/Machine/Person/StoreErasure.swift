// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Glibc
import Logbook
import LogbookStore
import Remotes

/// `glucoport store`: commands that concern a whole store.
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "store", "Erase a store permanently.",
    examples: "glucoport store erase", "glucoport store erase --store old.db --confirm old.db",
    subcommands: [StoreEraseCommand.self])
}

/// `glucoport store erase`: removes a store, its backups and its logbook on the server permanently.
struct StoreEraseCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "erase",
    "Remove the store, its logbook on the server, and its known backups permanently.",
    """
    The files are overwritten before they are removed. What could not be reached is listed. If the \
    server does not answer, nothing changes.
    """,
    examples: "glucoport store erase", "glucoport store erase --confirm logbook.db")

  @OptionGroup var storeOptions: StoreOptions

  @Option(
    help: ArgumentHelp("The name of the store's file, for a run without a terminal.", valueName: "name"))
  var confirm: String?

  func run(_ output: Output) async throws {
    let path = try storeOptions.path
    let name = path.split(separator: "/").last.map(String.init) ?? path
    var erasure = StoreErasure(path: path, name: name, output: output)
    try await erasure.run(confirm: confirm)
  }
}

/// Removes a store permanently, with its backups, its token and its logbook on the server. It lists what it
/// could not reach.
struct StoreErasure {
  private let path: String
  /// The given path, if it is a link to the store; nil otherwise.
  private let link: String?
  /// The name that the person must type to confirm the removal.
  private let name: String
  private let output: Output
  private var unreached: [String] = []
  private var failures: [Failure] = []

  /// - Parameter path: the path of the store, or of a link to it.
  init(path: String, name: String, output: Output) {
    (self.path, self.name, self.output) = (Host.resolved(path), name, output)
    link = Host.isLink(path) ? path : nil
  }

  /// Whether the store exists, or files that an interrupted removal has left.
  var hasFiles: Bool {
    ["", "-backups", ".before-restore"].contains { access(PathText.bytes(path + $0), F_OK) == 0 }
  }

  /// Asks for the name of the store, and then removes the store with all that belongs to it.
  ///
  /// - Parameter confirm: the name from the command line; nil to ask the person for it.
  /// - Throws: `Failure`. Nothing is removed on this computer before the server has removed the logbook.
  mutating func run(confirm: String?) async throws {
    guard confirm != nil || Confirmation.canAsk else {
      throw Failure(
        .usage, "no terminal to confirm the removal; state the name '\(displayed(name))' with --confirm")
    }
    guard hasFiles else { throw Failure(.missingInput, "\(displayed(path)): No such store") }
    let reader = try openReader()
    let setting = try reader?.remote()
    try requireName(confirm, reader, setting)
    guard let lock = try UploadLock.acquire(storePath: path) else {
      throw Failure(.temporary, "\(displayed(path)): an upload of this store is running; try again later")
    }
    defer { lock.release() }
    if let setting { try await removeLogbook(setting) }
    try FailureAfterRemoteChange.wrapFailures {
      try removeFiles(setting, hasStore: reader != nil)
      unreached.append(
        "stores of other people and computers that synced with this one, and copies that other programs made")
      let paired = try PairedMeters.load().all
      if !paired.isEmpty {
        unreached.append(
          "the pairing of \(counted(paired.count, "Bluetooth meter")): 'glucoport meter forget' ends it")
      }
      unreached.append("blocks of the disk that the file system gave back earlier")
      for line in unreached { output.line("not reached: \(line)") }
      if let failure = failures.first {
        throw Failure(
          failure.category,
          "\(counted(failures.count, "file")) could not be removed; see above, and run the command again")
      }
    }
  }

  /// Opens the store for reading. The result is nil if it does not exist, is damaged, or was overwritten by
  /// an interrupted run.
  ///
  /// - Throws: `Failure`, for example if the file is not a store.
  private mutating func openReader() throws -> Store? {
    guard try Store.exists(path: path) else { return nil }
    do {
      return try Store(path: path, role: .reader)
    } catch let failure as Failure
      where [.badInput, .inputOutput, .missingInput].contains(failure.category)
      && Store.isErasable(path: path)
    {
      unreached.append("the logbook on a server, if there is one: the store cannot be read")
      return nil
    }
  }

  private func requireName(_ confirm: String?, _ store: Store?, _ setting: RemoteSetting?) throws {
    let given: String?
    if let confirm {
      given = confirm
    } else {
      let overview = try store?.overview(ingests: 0)
      let content = overview.map {
        " with \(counted($0.readings, "reading")) and \(counted($0.records, "record"))"
      }
      let remote = setting.map { ", the logbook at \(displayed($0.access.url))" } ?? ""
      output.message(
        """
        This removes the store \(displayed(path))\(content ?? ""), its backups that are known\(remote), and the file of its token. This cannot be undone.
        Type '\(displayed(name))' to go on:
        """)
      given = readLine()
    }
    guard given == name else {
      throw Failure(.usage, "wrong name: '\(displayed(name))' is expected")
    }
  }

  private mutating func removeLogbook(_ setting: RemoteSetting) async throws {
    guard setting.access.kind != "nightscout" else {
      return unreached.append(
        "the documents on \(displayed(setting.access.url)): remove them there, in its admin tools")
    }
    let purge = LogbookPurge(setting: setting)
    if let logbook = try await purge.logbook() { try await purge.purge(logbook) }
    output.line("removed: the logbook at \(displayed(setting.access.url))")
  }

  private mutating func removeFiles(_ setting: RemoteSetting?, hasStore: Bool) throws {
    let notes = BackupNotes(storePath: path)
    let backups = try notes.notes()
    // The notes may contain a path twice, if a backup was made where an earlier one had been removed. Only
    // the last note about a path is valid.
    let last = Dictionary(backups.map { ($0.path, $0) }) { $1 }
    // A missing older backup is not reported, since `backup --keep` regularly removes older backups.
    let newest = backups.last { !$0.path.isEmpty }
    for backup in backups where !backup.path.isEmpty && last[backup.path] == backup {
      let isThere = remove(
        backup.path, sha256: backup.sha256, or: "this file is not the backup that was made there")
      if !isThere, backup == newest {
        unreached.append("\(displayed(backup.path)): no longer there; it may have been moved")
      }
      remove(backup.path + BackupSettings.suffix, sha256: nil, or: "this is not a regular file")
    }
    let streamed = backups.filter(\.path.isEmpty).count
    if streamed > 0 { unreached.append("\(counted(streamed, "backup")) that went to standard output") }
    if case .file(let token)? = setting?.access.token {
      remove(token, sha256: nil, or: "the token is in no regular file")
    }
    if hasStore {
      try Store(path: path, role: .sync).remove(overwriting: true)
    } else {
      try Store.eraseFiles(of: path)
    }
    output.line("removed: \(displayed(path))")
    if let link, unlink(PathText.bytes(link)) != 0, errno != ENOENT {
      unreached.append("\(displayed(link)): the link to the store: \(String(cString: strerror(errno)))")
    }
    if failures.isEmpty { try notes.remove() }
  }

  /// Removes a file, or notes in `unreached` why the file is kept. Returns whether the file existed.
  @discardableResult
  private mutating func remove(_ path: String, sha256: String?, or other: String) -> Bool {
    do {
      switch try ErasedFile(path).remove(ifSHA256: sha256) {
      case .removed: output.line("removed: \(displayed(path))")
      case .absent: return false
      case .other: unreached.append("\(displayed(path)): \(other)")
      }
    } catch {
      failures.append(error)
      unreached.append(displayed(error.message))
    }
    return true
  }
}
