// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Remotes

/// `glucoport remote test`: requests the logbook of the server, and changes nothing.
struct RemoteTestCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Ask the server for its logbook, and compare the clocks.",
    discussion: helpText(
      examples: "glucoport remote test",
      "glucoport remote test --store anna.db"))

  @OptionGroup var storeOptions: StoreOptions

  func run() async throws {
    let setting = try storeOptions.open(.reader).requireRemote()
    let login = try await setting.access.login()
    let logbook = try await setting.access.ask(with: login) { try await $0.logbook() }
    guard logbook.id == setting.logbook else {
      throw Failure(.otherLogbook(id: logbook.id), host: setting.access.url)
    }
    let output = Output()
    output.line(setting.access.url)
    output.line("  \(RemoteText.line(logbook))")
    if let time = logbook.time { output.line("  \(RemoteText.clock(time - Host.now()))") }
    if let proxy = login.proxy { output.line("  through the proxy \(displayed("\(proxy)"))") }
    for line in RemoteText.missingPermissions(logbook) { output.line("  \(line)") }
    try output.finish()
  }
}
