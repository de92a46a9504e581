// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport undo`: reverts a change that a person made in this store.
struct UndoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "undo", abstract: "Undo an import, or the last change that was made in this store.",
    discussion: helpText(
      """
      Without a number, the last import, typed record, edit, hiding or deletion in this store is \
      undone; each further 'glucoport undo' goes back one step more. 'glucoport log' lists them. \
      The readings and records of an import are hidden, not deleted. The next upload makes the \
      same change on all other stores of the logbook. 'glucoport redo' is the other direction.
      """,
      examples: "glucoport undo --dry-run",
      "glucoport undo 12"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var step: StepOptions

  func run() throws { try step.run(.undo, storeOptions) }
}

/// `glucoport redo`: repeats a change that `undo` reverted.
struct RedoCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "redo", abstract: "Redo an import that is undone, or what 'glucoport undo' took back last.",
    discussion: helpText(
      """
      Without a number, what the last 'glucoport undo' took back is done again; each further \
      'glucoport redo' goes one step on. A new import or change leaves nothing to redo; an import \
      can always be named by its number.
      """,
      examples: "glucoport redo --dry-run",
      "glucoport redo 12"))

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var step: StepOptions

  func run() throws { try step.run(.redo, storeOptions) }
}
