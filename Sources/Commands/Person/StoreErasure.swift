// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Removes a store with all of its files on this computer, and the logbook on its server. Prints what cannot
/// be removed.
struct StoreErasure {
  let path: String
  /// The name that the person types to confirm.
  let name: String
  let output: Output

  /// - Parameter confirm: the name from the command line; nil to ask.
  /// - Throws: `Failure`. Unless the server had removed the logbook, nothing was removed here.
  func run(confirm: String?) async throws {
    guard confirm != nil || Confirmation.canAsk else {
      throw Failure(
        .usage, "no terminal to confirm the removal; state the name '\(displayed(name))' with --confirm")
    }
    let reader = try Store(path: path, role: .reader)
    let setting = try reader.remote()
    try requireName(confirm, reader, setting)
    guard let lock = try UploadLock.take(storePath: path) else {
      throw Failure(.temporary, "\(displayed(path)): an upload of this store is running; try again later")
    }
    defer { lock.release() }
    var unreached: [String] = []
    if let setting {
      if setting.access.kind == "nightscout" {
        unreached.append(
          "the documents on \(displayed(setting.access.url)): remove them there, in its admin tools")
      } else {
        let purge = LogbookPurge(setting: setting)
        if let logbook = try await purge.logbook() { try await purge.purge(logbook) }
        output.line("removed: the logbook at \(displayed(setting.access.url))")
      }
    }
    try LateFailure.marking { try removeFiles(setting, &unreached) }
    unreached.append(
      "stores of other people and computers that synced with this one, and copies that other programs made")
    unreached.append("blocks of the disk that the file system gave back earlier")
    for line in unreached { output.line("not reached: \(line)") }
  }

  private func requireName(_ confirm: String?, _ store: Store, _ setting: RemoteSetting?) throws {
    let given: String?
    if let confirm {
      given = confirm
    } else {
      let overview = try store.overview(ingests: 0)
      let remote = setting.map { ", the logbook at \(displayed($0.access.url))" } ?? ""
      output.message(
        """
        This removes the store \(displayed(path)) with \(counted(overview.readings, "reading")) and \(counted(overview.records, "record")), its backups that are known\(remote), and the file of its token. This cannot be undone.
        Type '\(displayed(name))' to go on:
        """)
      given = readLine()
    }
    guard given == name else {
      throw Failure(.usage, "wrong name: '\(displayed(name))' is expected; nothing was removed")
    }
  }

  private func removeFiles(_ setting: RemoteSetting?, _ unreached: inout [String]) throws {
    let notes = try BackupNotes(storePath: path).notes()
    try Store(path: path, role: .sync).remove(overwriting: true)
    output.line("removed: \(displayed(path))")
    for note in notes where !note.path.isEmpty {
      switch try ErasedFile(note.path).remove(ifSHA256: note.sha256) {
      case .removed: output.line("removed: \(displayed(note.path))")
      case .absent: break
      case .other:
        unreached.append("\(displayed(note.path)): this file is not the backup that was made there")
      }
    }
    let streamed = notes.filter(\.path.isEmpty).count
    if streamed > 0 { unreached.append("\(counted(streamed, "backup")) that went to standard output") }
    if case .file(let token)? = setting?.access.token {
      if try ErasedFile(token).remove(ifSHA256: nil) == .removed {
        output.line("removed: \(displayed(token))")
      }
    }
  }
}
