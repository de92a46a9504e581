// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Remotes

/// `glucoport remote purge`: removes the logbook on the server permanently. When the server has confirmed it,
/// the store is removed, too.
struct RemotePurgeCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "purge", "Remove the logbook on the server permanently, and then this store.",
    """
    This cannot be undone. Other stores of the logbook keep their data, and their next \
    upload reports the removal. If the server does not answer, nothing changes.
    """,
    examples: "glucoport remote purge", "glucoport remote purge --confirm anna")

  @OptionGroup var storeOptions: StoreOptions

  @Option(
    help: ArgumentHelp("The name of the logbook to remove, for a run without a terminal.", valueName: "name")
  )
  var confirm: String?

  func run() async throws {
    let output = Output()
    let path = try storeOptions.path
    let setting = try storeOptions.open(.reader).requireRemote()
    guard confirm != nil || Host.isTerminal(0) else {
      throw Failure(
        .usage,
        "no terminal to confirm the removal; state the logbook's name with --confirm to remove everything")
    }
    // Nil if the logbook is already removed, for example by a run that ended before it removed the store.
    let logbook = try await LogbookPurge(setting: setting).logbook()
    try requireName(logbook?.name ?? setting.logbookName, setting, output)
    guard let lock = try UploadLock.acquire(storePath: path) else {
      throw Failure(.temporary, "\(path): an upload of this store is running; try again later")
    }
    defer { lock.release() }
    let store = try storeOptions.open(.sync)
    // Another process may have changed the remote before this one got the lock.
    guard try store.requireRemote().access == setting.access else {
      throw Failure(.temporary, "\(path): the remote was changed meanwhile; try again")
    }
    if let logbook { try await LogbookPurge(setting: setting).purge(logbook) }
    try FailureAfterRemoteChange.wrapFailures {
      try store.remove()
      output.line("the logbook and this store were removed")
      try output.finish()
    }
  }
}

extension RemotePurgeCommand {
  /// Throws if the name of the logbook is neither given on the command line nor typed by the person.
  private func requireName(_ name: String, _ setting: RemoteSetting, _ output: Output) throws {
    let given: String?
    if let confirm {
      given = confirm
    } else {
      let overview = try storeOptions.open(.reader).overview(ingests: 0)
      output.message(
        """
        This removes the logbook '\(displayed(name))' at \(displayed(setting.access.url)), and this store with
        \(counted(overview.readings, "reading")) and \(counted(overview.records, "record")), of which \(counted(overview.pending, "is", "are")) on no server. This cannot be undone.
        Type the name of the logbook to go on:
        """)
      given = readLine()
    }
    guard given == name else {
      throw Failure(
        .usage,
        "wrong name: the logbook is named '\(displayed(name))'; nothing was removed on the server"
      )
    }
  }
}

/// Removes a logbook permanently on its server.
struct LogbookPurge {
  let setting: RemoteSetting

  /// The logbook on the server. The result is nil if it is already removed, for example by a run that ended
  /// before it removed the store.
  ///
  /// - Throws: `Failure` if the server is not reachable, or if its type cannot remove logbooks.
  func logbook() async throws -> RemoteLogbook? {
    let logbook: RemoteLogbook? = try await setting.access.connect { remote in
      guard remote.purging != nil else {
        throw Failure(
          .configuration,
          "\(setting.access.url): this kind of server cannot remove a logbook; nothing was sent")
      }
      do throws(ServiceError) {
        return try await remote.logbook()
      } catch {
        guard error == .purged else { throw error }
        return nil
      }
    }
    guard let logbook else { return nil }
    guard logbook.id == setting.logbook else {
      throw Failure(.otherLogbook(id: logbook.id), host: setting.access.url)
    }
    guard logbook.isWritable else { throw Failure(.readOnly, host: setting.access.url) }
    return logbook
  }

  /// Removes the logbook. If it is already removed, this succeeds.
  func purge(_ logbook: RemoteLogbook) async throws {
    try await setting.access.connect { remote in
      do throws(ServiceError) {
        try await remote.purging?.purge(logbook)
      } catch {
        // Another store removed the logbook first, or the server's answer to an earlier attempt was lost.
        // Both count as success.
        guard error == .purged else { throw error }
      }
    }
  }
}
