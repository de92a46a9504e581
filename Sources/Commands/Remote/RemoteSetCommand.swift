// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Logbook
import LogbookStore
import Remotes
import Sync

/// `glucoport remote set`: requests the logbook from the server, and stores the access only if it answers.
struct RemoteSetCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set the server that the store syncs with.",
    discussion: helpText(
      """
      The token is never an argument: it is the first line of a file that only you can read, \
      or of the output of a command. If the server does not answer, nothing changes. A store \
      whose time zone is only the system's takes that of the server's logbook.
      """,
      examples: "glucoport remote set https://sync.example.org --token-file ~/.config/glucoport/token",
      "glucoport remote set https://sync.example.org --token-command 'pass show glucoport'"))

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

  @Option(
    help: ArgumentHelp(
      "Which time zone to keep if this store and the server's logbook were given different ones: mine or theirs.",
      valueName: "side"))
  var zone: ZoneChoice?

  @Flag(help: "Allow http to another machine; anyone on the network can read data and token.")
  var insecureHttp = false

  func validate() throws {
    guard (tokenFile == nil) != (tokenCommand == nil) else {
      // A wrong address is reported before a missing token, which a person may still need to create.
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
    for source in try storeOptions.existing()?.sources() ?? [] {
      try SourceRemote.refuse(source.access, as: access)
    }
    let logbook = try await access.ask { try await $0.logbook() }
    let output = Output()
    let store = try NewLogbook().openOrCreate(path, .sync, output)
    let joining = try await RemoteZone(access, store, zone, output)
    let change = try store.setRemote(
      access, logbook: logbook, isNewRemote: newRemote, after: joining.run, at: Host.now())
    try LateFailure.marking { try joining.join() }
    output.line("\(address.text) · \(kind.title)")
    output.line("  \(RemoteText.line(logbook))")
    for line in RemoteText.missingPermissions(logbook) { output.line("  \(line)") }
    if change == .requeued { output.line("  everything is pending and will be sent to this logbook") }
    try LateFailure.marking { try output.finish() }
  }

  private var tokenSource: TokenSource {
    if let tokenCommand { return .command(tokenCommand) }
    return .file(Host.lasting(tokenFile ?? ""))
  }

}
