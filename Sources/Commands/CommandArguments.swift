// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// The arguments of the program. What the parser would misunderstand is refused here, before and after it.
struct CommandArguments {
  let words: [String]

  /// The command that the words name, with its options.
  ///
  /// - Throws: `ValidationError`, or an error of the parser: help, the version, wrong usage.
  func parse() throws -> any ParsableCommand {
    try refuseUnknownCommand()
    try refuseJoinedOptions()
    let command = try Glucoport.parseAsRoot(words)
    if words.contains(where: PathText.isEscaped) { try refuseBytes(in: command) }
    return command
  }
}

extension CommandArguments {
  /// The parser calls it an unexpected argument, and shows the whole help for 'help imprt'.
  private func refuseUnknownCommand() throws {
    var commands = Glucoport.configuration.subcommands
    var path = ""
    for word in words.first == "help" ? words.dropFirst() : words[...] {
      let names = commands.compactMap { $0.configuration.commandName }
      if names.isEmpty || word.hasPrefix("-") || (path.isEmpty && word == "help") { return }
      guard let found = commands.first(where: { $0.configuration.commandName == word }) else {
        let advice =
          NearestWord.of(word, among: names).map { "did you mean '\(path)\($0)'?" }
          ?? "'glucoport help\(path.isEmpty ? "" : " " + path.dropLast())' lists the commands."
        throw ValidationError("Unknown command '\(path)\(word)'; \(advice)")
      }
      (commands, path) = (found.configuration.subcommands, path + word + " ")
    }
  }

  /// The parser reads a name such as '-dash.csv' as one option for each letter, and its 'h' as a wish for help.
  private func refuseJoinedOptions() throws {
    let joined = words.prefix { $0 != "--" }.first { word in
      word.utf8.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--")
    }
    if let joined {
      throw ValidationError("Unknown option '\(joined)'; to name a file like this write './\(joined)'.")
    }
  }

  /// Only names of files may be other bytes than UTF-8. Everything else is text, which is stored, sent and shown.
  private func refuseBytes(in value: Any) throws {
    if value is PathArgument { return }
    if let text = value as? String, PathText.isEscaped(text) {
      throw ValidationError("'\(text)' is not valid UTF-8; set the terminal and the locale to UTF-8.")
    }
    for child in Mirror(reflecting: value).children { try refuseBytes(in: child.value) }
  }
}

/// The word that was probably meant.
enum NearestWord {
  /// The nearest of these words; nil where none is near. A word that is the beginning of one of them is near.
  static func of(_ word: String, among words: [String]) -> String? {
    let nearest = words.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= (max(word.count, nearest.name.count) + 1) / 3 { return nearest.name }
    return word.count > 1 ? words.first { $0.hasPrefix(word) } : nil
  }

  /// How many letters have to be put in, taken out, exchanged for another or with their neighbour.
  static func distance(_ first: String, _ second: String) -> Int {
    let (from, to) = (Array(first), Array(second))
    var rows = [Array(0...to.count)]
    for i in from.indices {
      var row = [i + 1]
      for j in to.indices {
        var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (from[i] == to[j] ? 0 : 1))
        if i > 0, j > 0, from[i] == to[j - 1], from[i - 1] == to[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[from.count][to.count]
  }
}
