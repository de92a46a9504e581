// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import glucoport

@Suite struct HelpTests {
  @Test func theHelpOfEveryCommandEndsWithTwoValidExamples() throws {
    let commands = HelpedCommand.below(Glucoport.self)
    #expect(commands.count > 40)
    for command in commands {
      let lines = command.type.configuration.discussion.split(separator: "\n").map(String.init)
      try #require(lines.count >= 3 && lines[lines.count - 3] == "Examples:", "\(command.words)")
      for line in lines.suffix(2) {
        let words = try HelpedCommand.arguments(of: line)
        #expect(words.starts(with: command.words), "\(line)")
        #expect(throws: Never.self, "\(line)") { try CommandArguments(words: words).parse() }
      }
    }
  }

  @Test func theProgramHelpListsTheCommandsInGroups() {
    let names = Glucoport.configuration.groupedSubcommands.map(\.name)
    #expect(names == ["Import", "Look", "Sync", "Manage"])
    #expect(Glucoport.configuration.ungroupedSubcommands.isEmpty)
  }
}

/// A command, and the words with which a person calls it.
private struct HelpedCommand {
  let words: [String]
  let type: any ParsableCommand.Type

  /// The subcommands of a command at all levels, including groups.
  static func below(_ type: any ParsableCommand.Type, _ words: [String] = []) -> [HelpedCommand] {
    type.configuration.subcommands.flatMap { next -> [HelpedCommand] in
      let own = words + [next.configuration.commandName ?? ""]
      return [HelpedCommand(words: own, type: next)] + below(next, own)
    }
  }

  /// The arguments of `glucoport` in a shell command line, up to a pipe or a redirection.
  static func arguments(of line: String) throws -> [String] {
    var words: [String] = []
    for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
      if index.isMultiple(of: 2) {
        words += part.split(separator: " ").map(String.init)
      } else {
        words.append(String(part))
      }
    }
    let start = try #require(words.firstIndex(of: "glucoport"), "\(line)")
    return Array(words[(start + 1)...].prefix { $0 != "|" && $0 != ">" })
  }
}
