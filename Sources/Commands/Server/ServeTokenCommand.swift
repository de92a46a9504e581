// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
package import LogbookAPI

extension LoginRole: ExpressibleByArgument {}

/// `glucoport serve token`: commands for the tokens with which clients read and write the logbooks of a
/// server.
struct ServeTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "token", "Add, list, replace and revoke the tokens of clients.",
    examples: "glucoport serve token add anna --role write --logbook anna", "glucoport serve token list",
    subcommands: [Add.self, List.self, Rotate.self, Revoke.self])
}

extension ServeTokenCommand {
  /// `glucoport serve token add`: adds a token and prints it. It cannot be printed again.
  struct Add: AsyncParsableCommand, ClassifiedCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "add", "Add a token and print it once.",
      examples: "glucoport serve token add anna --role write --logbook anna",
      "glucoport serve token add viewer --role read --logbook anna")

    @OptionGroup var dataOptions: ServerDataOptions

    @Argument(help: ArgumentHelp("A name for the token, for 'list' and 'revoke'.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("What the token permits: read or write.", valueName: "role"))
    var role: LoginRole

    @Option(
      help: ArgumentHelp(
        "The logbook of the token, created if needed. Default: the only logbook.",
        valueName: "name"))
    var logbook: String?

    func run() async throws {
      let output = Output()
      var generator = SystemRandomNumberGenerator()
      let token = LoginToken(using: &generator)
      let logins = try dataOptions.logins
      try await logins.add(name: name, role: role, logbook: logbook, token: token, at: Host.now())
      output.line(token.text)
      do {
        try output.finish()
      } catch let failure as Failure {
        // The token was not printed, so it is useless. Its name must be free for another attempt.
        try await logins.remove(name: name)
        throw Failure(failure.category, "\(failure.message); no token was added")
      }
    }
  }

  /// `glucoport serve token list`: lists the names of the tokens, but not the tokens themselves.
  struct List: AsyncPrintingCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "list", "List the tokens: name, role, logbook, time added, and id in the log.",
      examples: "glucoport serve token list", "glucoport serve token list --json")

    @OptionGroup var dataOptions: ServerDataOptions

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func run(_ output: Output) async throws {
      for login in try await dataOptions.logins.list() {
        let added = DeviceTime(seconds: login.createdAt).text + "Z"
        let id = Login.logID(login.name)
        let role = login.role.rawValue
        try output.result(
          asJSON: json,
          LoginObject(name: login.name, role: role, logbook: login.logbook, addedAt: added, logID: id),
          orLines: ["\(displayed(login.name))  \(role)  \(displayed(login.logbook))  \(added)  \(id)"])
      }
    }
  }

  /// `glucoport serve token rotate`: replaces a token and prints the new one. It cannot be printed again.
  struct Rotate: AsyncParsableCommand, ClassifiedCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "rotate", "Replace a token by another one and print it once.",
      """
      The old token is rejected at once, or after --grace. Name, role, logbook and everything that was synced stay.
      """,
      examples: "glucoport serve token rotate anna", "glucoport serve token rotate anna --grace 24h > token")

    @OptionGroup var dataOptions: ServerDataOptions

    @Argument(help: ArgumentHelp("The name of the token.", valueName: "name"))
    var name: String

    @Option(
      help: ArgumentHelp("Accept the old token for this time, such as 90s, 30m or 24h.", valueName: "time"))
    var grace: DurationArgument?

    func run() async throws {
      let output = Output()
      var generator = SystemRandomNumberGenerator()
      let token = LoginToken(using: &generator)
      try await dataOptions.logins.rotate(
        name: name, token: token, graceSeconds: grace?.seconds ?? 0, at: Host.now())
      output.line(token.text)
      do {
        try output.finish()
      } catch let failure as Failure {
        throw Failure(
          failure.category,
          "\(failure.message); the token was replaced, and nothing shows the other one again: repeat the command"
        )
      }
    }
  }

  /// `glucoport serve token revoke`: makes a token invalid.
  struct Revoke: AsyncParsableCommand, ClassifiedCommand {
    static let actionClass = ActionClass.local
    static let configuration = CommandConfiguration(
      "revoke", "Revoke a token; the next request with it is rejected.",
      examples: "glucoport serve token revoke anna",
      "glucoport serve token revoke anna --data /srv/glucoport")

    @OptionGroup var dataOptions: ServerDataOptions

    @Argument(help: ArgumentHelp("The name of the token.", valueName: "name"))
    var name: String

    func run() async throws { try await dataOptions.logins.remove(name: name) }
  }
}

/// The facts about a token for `serve token list --json`; glucoport-json(5) documents the members.
private struct LoginObject: Encodable {
  let name: String
  let role: String
  let logbook: String
  let addedAt: String
  let logID: String
}
