// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Remotes
import Report
import Sync

/// `glucoport remote`: commands for the server with which the store syncs.
struct RemoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "remote",
    "Set, show, test, remove or purge the server that the store syncs with, or show it in a browser.",
    examples: "glucoport remote set https://sync.example.org --token-file ~/.config/glucoport/token",
    "glucoport remote test",
    subcommands: [
      RemoteSetCommand.self, RemoteShowCommand.self, RemoteTestCommand.self, RemoteRemoveCommand.self,
      RemotePageCommand.self, RemotePurgeCommand.self,
    ])
}

/// `glucoport remote show`: prints what the store knows about the remote. It sends no request.
struct RemoteShowCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "show", "Show the server and its sync state, without contacting it.",
    examples: "glucoport remote show", "glucoport remote show --json")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Print one JSON object.")
  var json = false

  func run(_ output: Output) throws {
    let setting = try storeOptions.open(.reader).requireRemote()
    try output.result(asJSON: json, RemoteObject(setting), orLines: RemoteText.lines(setting))
  }
}

/// `glucoport remote test`: asks the server for its logbook, and changes nothing.
struct RemoteTestCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "test", "Ask the server for its logbook, and compare the clocks.",
    examples: "glucoport remote test", "glucoport remote test --store anna.db")

  @OptionGroup var storeOptions: StoreOptions

  func run(_ output: Output) async throws {
    let setting = try storeOptions.open(.reader).requireRemote()
    let login = try await setting.access.login()
    let logbook = try await setting.access.connect(with: login) { try await $0.logbook() }
    guard logbook.id == setting.logbook else {
      throw Failure(.otherLogbook(id: logbook.id), host: setting.access.url)
    }
    output.line(setting.access.url)
    output.line("  \(RemoteText.line(logbook))")
    if let time = logbook.time { output.line("  \(RemoteText.clock(time - Host.now()))") }
    if let proxy = login.proxy { output.line("  through the proxy \(displayed("\(proxy)"))") }
    for line in RemoteText.missingPermissions(logbook) { output.line("  \(line)") }
  }
}

/// `glucoport remote page`: asks the server for a link with which a browser shows the logbook.
struct RemotePageCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "page", "Print a link that shows the logbook in a browser for 15 minutes.",
    """
    Anyone who has the link can read the logbook until it expires. It changes nothing, and ends \
    when the token is revoked. The server must run with --pages.
    """,
    examples: "glucoport remote page", "glucoport remote page --expires 2h --language de")

  @OptionGroup var storeOptions: StoreOptions

  @Option(
    help: ArgumentHelp(
      "How long the link is valid: 900, 15m or 2h; at most 24h. Default: 15m.", valueName: "duration"))
  var expires: DurationArgument?

  @Option(
    help: ArgumentHelp(
      "The language of the page: \(alternatives(PageTexts.all.map(\.code))).", valueName: "language"),
    completion: .languages)
  var language = PageTexts.english.code

  func validate() throws {
    if let expires, expires.seconds == 0 { throw ValidationError("--expires must be at least one second.") }
    guard PageTexts.all.contains(where: { $0.code == language }) else {
      throw ValidationError(
        "Unknown language '\(language)'; use \(alternatives(PageTexts.all.map(\.code))).")
    }
  }

  func run(_ output: Output) async throws {
    let setting = try storeOptions.open(.reader).requireRemote()
    try setting.refusePurged()
    let link = try await setting.access.connect { remote in
      guard let pages = remote.pages else {
        throw Failure(
          .configuration, "\(setting.access.url): this kind of server has no pages; use 'glucoport report'")
      }
      let logbook = try await remote.logbook()
      guard logbook.id == setting.logbook else {
        throw Failure(.otherLogbook(id: logbook.id), host: setting.access.url)
      }
      guard let link = try await pages.makePageLink(seconds: expires?.seconds) else {
        throw Failure(
          .configuration,
          "\(setting.access.url): the server shows no pages; it needs 'glucoport serve --pages'")
      }
      return link
    }
    // Standard output gets only the link, so that a program can open it.
    output.line("\(setting.access.url)\(link.path)?language=\(language)")
    output.message(
      "glucoport: anyone with this link can read the logbook until \(DeviceTime(seconds: link.expiresAt).text)Z"
    )
  }
}

/// `glucoport remote remove`: removes the remote from the store. It sends no request.
struct RemoteRemoveCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "remove",
    "Remove the server's address and login from the store. Data on both sides stays.",
    examples: "glucoport remote remove", "glucoport remote remove --store anna.db")

  @OptionGroup var storeOptions: StoreOptions

  func run(_ output: Output) throws {
    let wasThere = try storeOptions.open(.sync).removeRemote()
    output.line(wasThere ? "the remote was removed; its data stays on the server" : "the store had no remote")
  }
}

/// A remote for `remote show --json`; glucoport-json(5) documents the members. They have neither the token
/// nor the command that prints it.
struct RemoteObject: Encodable {
  let kind: String
  let url: String
  let logbook: String
  let logbookName: String
  let tokenSource: String
  let tokenFile: String?
  let caFile: String?
  let clientCert: String?
  let clientKey: String?
  let insecureHTTP: Bool
  let failures: Int
  let lastSuccess: String?
  let lastError: String?
  let nextAttempt: String?
  let purgedAt: String?

  init(_ setting: RemoteSetting) {
    kind = setting.access.kind
    url = setting.access.url
    logbook = setting.logbook
    logbookName = setting.logbookName
    let (source, path): (String, String?) =
      switch setting.access.token {
      case .file(let path): ("file", path)
      case .command: ("command", nil)
      }
    (tokenSource, tokenFile) = (source, path)
    caFile = setting.access.authorities
    clientCert = setting.access.clientCertificate?.certificateFile
    clientKey = setting.access.clientCertificate?.keyFile
    insecureHTTP = setting.access.allowsPlainHTTP
    failures = setting.failures
    lastSuccess = setting.lastSuccess.map(instant)
    lastError = setting.lastError
    nextAttempt = setting.nextAttempt.map(instant)
    purgedAt = setting.purgedAt.map(instant)
  }
}

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
