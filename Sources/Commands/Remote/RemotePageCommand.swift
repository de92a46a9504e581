// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Report

/// `glucoport remote page`: asks the server for a link that shows the logbook in a browser.
struct RemotePageCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "page", abstract: "Print a link that shows the logbook in a browser for 15 minutes.",
    discussion: helpText(
      """
      Anyone who has the link can read the logbook until it expires. It changes nothing, and ends \
      when the token is revoked. The server must run with --pages.
      """,
      examples: "glucoport remote page",
      "glucoport remote page --expires 2h --language de"))

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

  func run() async throws {
    let setting = try storeOptions.open(.reader).requireRemote()
    try setting.refusePurged()
    let link = try await setting.access.ask { remote in
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
    let output = Output()
    // The only text on its line, for a program that opens it.
    output.line("\(setting.access.url)\(link.path)?language=\(language)")
    output.message(
      "glucoport: anyone with this link can read the logbook until \(DeviceTime(seconds: link.expiresAt).text)Z"
    )
    try output.finish()
  }
}
