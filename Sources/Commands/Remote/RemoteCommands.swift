// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Remotes
import Report

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
