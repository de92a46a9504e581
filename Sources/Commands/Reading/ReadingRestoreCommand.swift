// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport reading restore`: shows one reading whatever hides it, or ends the rules that hide those of a
/// device.
struct ReadingRestoreCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Show a hidden reading again, or the hidden readings of a device.",
    discussion: helpText(
      "With --device, readings stay hidden that are hidden by themselves or by 'glucoport undo'.",
      examples: "glucoport reading restore r1.smbg.time1772352960.67.0",
      "glucoport reading restore --device SN-0001"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var choice: ReadingChoice

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    let editor = WithdrawalEditor(store, at: Host.now())
    var line = ""
    if let id = choice.id {
      let isChanged = try editor.set(choice.reading(id, store), isHidden: false, reason: "")
      line = isChanged ? "restored: \(id)" : "unchanged: \(id) is not hidden"
    } else if let name = choice.device {
      let (since, until) = try choice.range(store)
      let restored = try editor.restore(choice.device(name, store), since: since, until: until)
      guard restored.rules > 0 else {
        throw Failure(
          .missingInput,
          "\(displayed(name)): no such 'glucoport reading hide --device' holds; 'glucoport list --withdrawn' shows what is hidden"
        )
      }
      line = "restored: \(counted(restored.readings, "reading")) of \(displayed(name))"
    }
    if !choice.quiet { output.line(line) }
    try output.finish()
  }
}
