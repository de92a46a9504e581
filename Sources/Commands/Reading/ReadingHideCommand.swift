// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport reading hide`: withdraws one reading, or those of a device.
struct ReadingHideCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "hide",
    abstract: "Hide a reading, or the readings of a device, those of later imports, too.",
    discussion: helpText(
      examples: "glucoport reading hide r1.smbg.time1772352960.67.0 --reason 'sugar on the finger'",
      "glucoport reading hide --device SN-0001 --since 2026-05-01 --until 2026-05-08"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var choice: ReadingChoice

  @Option(help: ArgumentHelp("Why, for people.", valueName: "text"))
  var reason = ""

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let editor = WithdrawalEditor(store, at: Host.now())
    var line = ""
    if let id = choice.id {
      let isChanged = try editor.set(choice.reading(id, store), isHidden: true, reason: reason)
      line = isChanged ? "hidden: \(id)" : "unchanged: \(id) is hidden already"
    } else if let name = choice.device {
      let (since, until) = try choice.range(store)
      let hidden = try editor.hide(
        choice.device(name, store), since: since, until: until, reason: reason, guid: Host.randomUUID())
      line = "hidden: \(counted(hidden, "reading")) of \(displayed(name)), and those that come later"
    }
    if !choice.quiet { output.line(line) }
    try output.finish()
  }
}
