// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Logbook
import LogbookStore
import Remotes

/// `glucoport remote set`: asks the server for its logbook, and only when it answers keeps how it is reached.
struct RemoteSetCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set the server that the store syncs with, once it has answered.",
    discussion: """
      The token is never an argument: it is the first line of a file that only you can read, or of what a command \
      prints. Without an answer of the server nothing changes.
      """)

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The address of the server: https://host/prefix.")
  var url: String

  @Option(
    help: ArgumentHelp("What is there: glucoport or nightscout; else the address tells.", valueName: "type"))
  var type: String?

  @Option(
    help: ArgumentHelp("The file with the token in its first line.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(help: ArgumentHelp("The command of the shell that prints the token.", valueName: "command"))
  var tokenCommand: String?

  @Option(
    help: ArgumentHelp(
      "Trust the certificates of this file (PEM), and no others, to vouch for the server.", valueName: "file"),
    completion: .file())
  var caFile: String?

  @Flag(help: "Allow another logbook than the one so far; everything is sent to it.")
  var newRemote = false

  @Flag(help: "Allow http to another machine, where everybody on the way reads data and token.")
  var insecureHttp = false

  func validate() throws {
    guard (tokenFile == nil) != (tokenCommand == nil) else {
      throw ValidationError("Give the token by either --token-file or --token-command.")
    }
  }

  func run() async throws {
    let path = try storeOptions.path
    let address = try RemoteAddress(url, allowsPlainHTTP: insecureHttp)
    let kind = try type.map(RemoteRegister.kind(named:)) ?? RemoteRegister.kind(of: address)
    let access = RemoteAccess(
      kind: kind.id, url: address.text, token: tokenSource, allowsPlainHTTP: insecureHttp,
      authorities: caFile.map(Self.whole))
    let logbook = try await access.ask { try await $0.logbook() }
    let store = try Store.openOrCreate(
      path: path, role: .sync, zone: LogbookZone(name: Host.systemZone))
    let change = try store.setRemote(access, logbook: logbook, isNewRemote: newRemote, at: Host.now())
    let output = Output()
    output.line("\(address.text) · \(kind.title)")
    output.line("  \(RemoteText.line(logbook))")
    for line in RemoteText.missingPermissions(logbook) { output.line("  \(line)") }
    if change == .requeued { output.line("  everything is pending and goes to this logbook") }
    try LateFailure.marking { try output.finish() }
  }

  private var tokenSource: TokenSource {
    if let tokenCommand { return .command(tokenCommand) }
    return .file(Self.whole(tokenFile ?? ""))
  }

  /// A path is kept whole, since the next run may start in another folder.
  private static func whole(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }
}
