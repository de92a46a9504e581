// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Remotes
import Sync

/// `glucoport remote set`: asks the server for the logbook, and stores the remote only if the server answers.
struct RemoteSetCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "set", "Set the server that the store syncs with.",
    """
    The token is never an argument: it is the first line of a file that only you can read, \
    or of the output of a command. If the server does not answer, nothing changes. A store \
    whose time zone is only the system's takes that of the server's logbook.
    """,
    examples: "glucoport remote set https://sync.example.org --token-file ~/.config/glucoport/token",
    "glucoport remote set https://sync.example.org --token-command 'pass show glucoport'")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The address of the server: https://host/prefix.")
  var url: String

  @Option(
    help: ArgumentHelp("Server type: glucoport (default) or nightscout.", valueName: "type"),
    completion: .remoteKinds)
  var type: String?

  @Option(
    help: ArgumentHelp("File whose first line is the token.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(help: ArgumentHelp("Shell command that prints the token.", valueName: "command"))
  var tokenCommand: String?

  @OptionGroup var certificates: CertificateOptions

  @Flag(help: "Allow another logbook than before; everything is sent to it.")
  var newRemote = false

  @Flag(help: "Set it although the store of another person syncs with the logbook or fetches from the site.")
  var otherPerson = false

  @Option(
    help: ArgumentHelp(
      "Which time zone to keep if this store and the server's logbook were given different ones: mine or theirs.",
      valueName: "side"))
  var zone: ZoneChoice?

  @Flag(help: "Allow http to another machine; anyone on the network can read data and token.")
  var insecureHttp = false

  func validate() throws {
    guard (tokenFile == nil) != (tokenCommand == nil) else {
      // The address is checked before the token, which a person can create only at the correct address.
      do throws(Failure) {
        _ = try RemoteAddress(url, allowsPlainHTTP: insecureHttp)
      } catch {
        throw ValidationError(error.message)
      }
      throw ValidationError("Use one of --token-file and --token-command.")
    }
  }

  func run() async throws {
    let path = try storeOptions.path
    let address = try RemoteAddress(url, allowsPlainHTTP: insecureHttp)
    guard address.isEncrypted || certificates.client == nil else {
      throw ValidationError("--client-cert needs an address that begins with https.")
    }
    let kind = try type.map(RemoteRegister.kind(named:)) ?? RemoteRegister.kind(of: address)
    let access = RemoteAccess(
      kind: kind.id, url: address.text, token: tokenSource, allowsPlainHTTP: insecureHttp,
      authorities: certificates.authorities, clientCertificate: certificates.client)
    let existing = try storeOptions.existing()
    for source in try existing?.sources() ?? [] { try SourceRemote.refuse(source.access, as: access) }
    let logbook = try await access.connect { try await $0.logbook() }
    if !otherPerson { try OthersPlaces(path)?.refuse(access, logbook, for: existing) }
    let output = Output()
    let store = try NewLogbook().openOrCreate(path, .sync, output)
    let joining = try await RemoteZone(access, store, zone, output)
    let change = try store.setRemote(
      access, logbook: logbook, isNewRemote: newRemote, after: joining.run, at: Host.now())
    try FailureAfterRemoteChange.wrapFailures { try joining.join() }
    output.line("\(address.text) · \(kind.title)")
    output.line("  \(RemoteText.line(logbook))")
    for line in RemoteText.missingPermissions(logbook) { output.line("  \(line)") }
    if change == .requeued { output.line("  everything is pending and will be sent to this logbook") }
    try FailureAfterRemoteChange.wrapFailures { try output.finish() }
  }

  private var tokenSource: TokenSource {
    if let tokenCommand { return .command(tokenCommand) }
    return .file(Host.standardPath(tokenFile ?? ""))
  }

}

/// Fetches the base zone of the logbook when a store gets its first remote. This comes before the remote is
/// stored: if people stated different zones here and on the remote, nothing is changed. For a later remote,
/// the next upload compares the zones.
struct RemoteZone {
  /// The run stamp of the request; nil if no request was sent.
  let run: RunStamp?
  private let store: Store
  private let choice: ZoneChoice?
  private let remoteName: String
  private let record: RemoteRecord?
  private static let command = "glucoport remote set"

  /// Fetches the zone if the store has never had a remote.
  ///
  /// - Throws: `Failure` of category `configuration` if people stated different zones here and on the remote,
  ///   and `choice` is nil.
  init(
    _ access: RemoteAccess, _ store: Store, _ choice: ZoneChoice?, _ output: Output,
    isolation: isolated (any Actor)? = #isolation
  ) async throws {
    (self.store, self.choice, remoteName) = (store, choice, access.url)
    guard try !store.hasHadRemote() else {
      (run, record) = (nil, nil)
      return
    }
    let run = RunStamp(node: Host.randomUUID(), number: 1, id: Host.randomUUID())
    do {
      record = try await access.connect { try await BaseZone.fetch(from: $0, run) }
    } catch let failure as Failure {
      // A failure does not stop the command: the first upload fetches the zone before it sends anything.
      output.message("glucoport: \(failure.message); the first upload fetches the time zone")
      record = nil
    }
    self.run = run
    if let record { try store.checkBaseZone(record, choice, at: remoteName, command: Self.command) }
  }

  /// If the zone of the remote's logbook has precedence, makes it the base zone of the store. Call it after
  /// the remote is stored.
  func join() throws {
    guard let record else { return }
    try store.joinBaseZone(record, choice, at: remoteName, command: Self.command, now: Host.now())
  }
}
