// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import CommandParts
@testable import glucoport

/// The commands of the program, with the class that each of them declares.
enum ClassifiedCommands {
  static let leaves = leaves(of: Glucoport.self, words: [])

  static var all: [(words: String, type: any ClassifiedCommand.Type)] {
    leaves.compactMap { leaf in (leaf.type as? any ClassifiedCommand.Type).map { (leaf.words, $0) } }
  }

  /// The commands that do something themselves, in the order of the help: commands without subcommands, and
  /// groups that declare a class.
  private static func leaves(
    of type: any ParsableCommand.Type, words: [String]
  ) -> [(words: String, type: any ParsableCommand.Type)] {
    let below = type.configuration.subcommands
    let isDoing = below.isEmpty || type is any ClassifiedCommand.Type
    return (isDoing ? [(words.joined(separator: " "), type)] : [])
      + below.flatMap { leaves(of: $0, words: words + [$0.configuration.commandName ?? ""]) }
  }
}

@Suite struct ActionClassTests {
  @Test func everyCommandIsInExactlyOneNetworkClass() {
    let unclassified = ClassifiedCommands.leaves.filter { !($0.type is any ClassifiedCommand.Type) }
    #expect(unclassified.map(\.words) == [])
    #expect(ClassifiedCommands.leaves.count >= 12)
    #expect(ClassifiedCommands.all.contains { $0.words == "record add" })
  }

  /// If a command has no super-command, the parser checks whether the shell requests completions. This check
  /// takes a fifth of the time of a short command.
  @Test func everyCommandIsParsedWithoutCheckingForACompletionRequest() {
    let searched = ClassifiedCommands.leaves.filter {
      $0.type.configuration._superCommandName != "glucoport"
    }
    #expect(searched.map(\.words) == [])
    #expect(Glucoport.configuration._superCommandName == nil)
  }

  @Test func everyCommandThatChangesReadingsOrRecordsIsDeferrable() {
    let deferrable = ClassifiedCommands.all.filter { $0.type.actionClass == .deferrable }.map(\.words)
    #expect(Set(deferrable).isSuperset(of: ["import", "record add", "record edit", "record delete"]))
  }
}
