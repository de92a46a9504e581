// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Commands
import Logbook

/// The arguments of the program. Some words would be misunderstood by the argument parser. They are refused
/// here, before or after parsing.
struct CommandArguments {
  let words: [String]

  /// Whether the words ask for JSON, even if the command has no such option. Errors are then also printed as
  /// JSON.
  static func askForJSON(_ words: [String]) -> Bool {
    words.prefix { $0 != "--" }.contains { $0 == "--json" || $0.hasPrefix("--json=") }
  }

  /// The command that the words name, with the values of its options.
  ///
  /// - Throws: `ValidationError`, or an error of the parser for help, the version and wrong usage.
  func parse() throws -> any ParsableCommand {
    if let shell = scriptShell {
      throw CleanExit.message(CompletionScript(of: Glucoport.self).text(for: shell))
    }
    if let moved = try withStoreOptionsAfterCommand { return try CommandArguments(words: moved).parse() }
    try refuseUnknownCommand()
    try refuseTypedReading()
    try refuseNegativeNumber()
    try refuseJoinedOptions()
    let command = try namedCommand ?? anyCommand()
    if words.contains(where: PathText.isEscaped) { try refuseBytes(in: command) }
    return command
  }
}

extension CommandArguments {
  /// The command that the words name, parsed separately from all others. If the parser gets the whole tree of
  /// commands, it examines every option, which takes most of the time of a short run.
  ///
  /// - Returns: nil for help, for wrong usage, and for a name without its subcommand. For these, the whole
  ///   tree is parsed, so that errors show the full name of the command.
  private var namedCommand: (any ParsableCommand)? {
    var (command, rest): (any ParsableCommand.Type, ArraySlice<String>) = (Glucoport.self, words[...])
    while Self.hasNoArguments(command), let word = rest.first,
      let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
    {
      (command, rest) = (next, rest.dropFirst())
    }
    guard command != Glucoport.self, command.configuration.subcommands.isEmpty,
      // The first word begins with `---` if a shell asks for completions.
      rest.first?.hasPrefix("---") != true
    else { return nil }
    do {
      let parsed = try command.parseAsRoot(Array(rest))
      // If help is requested, the parser returns its own help command. It would show the command's name
      // without the path to it.
      return type(of: parsed) == command ? parsed : nil
    } catch {
      return nil
    }
  }

  /// Whether a command has no options or arguments, apart from those of its subcommands. If it has any, the
  /// parser reads them before the subcommand.
  private static func hasNoArguments<Command: ParsableCommand>(_: Command.Type) -> Bool {
    MemoryLayout<Command>.size == 0
  }

  /// The command that the parser finds in the whole tree of commands.
  private func anyCommand() throws -> any ParsableCommand {
    do {
      return try Glucoport.parseAsRoot(words)
    } catch {
      if Glucoport.exitCode(for: error) == .validationFailure { try refuseUnknownOption() }
      throw error
    }
  }

  /// The shell whose completion script is requested. Nil for any other call, and for a shell without such a
  /// script.
  private var scriptShell: CompletionShell? {
    let option = "--generate-completion-script"
    if words == [option] { return CompletionShell.autodetected() }
    guard let first = words.first, first.hasPrefix(option), words.count <= 2 else { return nil }
    return CompletionShell(rawValue: words.count == 2 ? words[1] : String(first.dropFirst(option.count + 1)))
  }

  /// The words with `--store` and `--person` moved after the command, where the parser expects them. Nil
  /// unless these options come before the command.
  private var withStoreOptionsAfterCommand: [String]? {
    get throws {
      var (rest, options) = (words[...], [String]())
      while let word = rest.first, let name = Self.storeOption(word) {
        options.append(rest.removeFirst())
        guard word == name else { continue }
        guard let value = rest.popFirst() else { throw ValidationError("Missing value for '\(name)'.") }
        options.append(value)
      }
      guard !options.isEmpty else { return nil }
      guard rest.first?.hasPrefix("-") == false else {
        let text = options.joined(separator: " ")
        throw ValidationError("'\(text)' needs a command, such as 'glucoport \(text) status'.")
      }
      var (path, commands) = ([String](), Glucoport.configuration.subcommands)
      while let word = rest.first,
        let next = commands.first(where: { $0.configuration.commandName == word })
      {
        path.append(rest.removeFirst())
        commands = next.configuration.subcommands
      }
      // Without a known command, the options are placed at the end, so that the parser reports the unknown
      // command.
      return path + (path.isEmpty ? rest + options : options + rest)
    }
  }

  /// The name of the option in a word such as `--person` or `--person=anna`; nil for any other word.
  private static func storeOption(_ word: String) -> String? {
    ["--store", "--person"].first { word == $0 || word.hasPrefix($0 + "=") }
  }

  /// Reports an unknown command. The parser would call it an unexpected argument, and show the whole help for
  /// 'help imprt'.
  private func refuseUnknownCommand() throws {
    var commands = Glucoport.configuration.subcommands
    var path = ""
    for word in words.first == "help" ? words.dropFirst() : words[...] {
      if commands.isEmpty || word.hasPrefix("-") || (path.isEmpty && word == "help") { return }
      guard let found = commands.first(where: { $0.configuration.commandName == word }) else {
        if path == "reading ", word == "add" { throw Self.typedReading }
        let names = commands.compactMap { $0.configuration.commandName }
        let advice =
          NearestWord.of(word, among: names).map { "did you mean '\(path)\($0)'?" }
          ?? "'glucoport help\(path.isEmpty ? "" : " " + path.dropLast())' lists the commands."
        throw ValidationError("Unknown command '\(path)\(word)'; \(advice)")
      }
      (commands, path) = (found.configuration.subcommands, path + word + " ")
    }
  }

  /// The hint how to type a reading, for 'record add glucose' and 'reading add'. A reading is not a record,
  /// and 'reading' only handles stored readings.
  private static let typedReading = ValidationError(
    "A reading is typed with 'glucoport add', such as 'glucoport add 6.1mmol' or 'glucoport add 110mg/dL --at 18:30'."
  )

  /// Reports how to type a reading. The parser would list the kinds of records, without a hint about
  /// readings.
  private func refuseTypedReading() throws {
    guard words.starts(with: ["record", "add"]),
      let kind = words.dropFirst(2).drop(while: { ["--json", "--quiet", "-q"].contains($0) }).first
    else { return }
    let readings =
      ["glucose", "reading", "bg", "blood-glucose", "ketones"] + ReadingKind.allCases.map(\.name)
    if readings.contains(kind.lowercased()) { throw Self.typedReading }
  }

  /// Reports a negative number, which the parser would treat as an unknown option. No option and no amount
  /// can be negative.
  private func refuseNegativeNumber() throws {
    let words = words.prefix { $0 != "--" }
    guard let place = words.indices.first(where: { Self.isNegativeNumber(words[$0]) }) else { return }
    let (word, before) = (words[place], place > 0 ? words[place - 1] : "")
    let subject = before.hasPrefix("--") ? "\(before): " : ""
    throw ValidationError(
      "\(subject)'\(word)' is negative; write a positive number. If it is a text, write '--' before it."
    )
  }

  /// Whether a word is a number with a minus sign and optionally a unit: '-4', '-4.5', '-3d'.
  private static func isNegativeNumber(_ word: String) -> Bool {
    guard word.first == "-" else { return false }
    let number = word.dropFirst().prefix { $0.isASCII && ($0.isNumber || $0 == "." || $0 == ",") }
    let unit = word.dropFirst(1 + number.count)
    return number.first?.isNumber == true && number.last?.isNumber == true && unit.count <= 4
      && unit.allSatisfy { $0.isLetter || $0 == "/" }
  }

  /// The type of the command that the first words name, and these words.
  private var typeAndPath: (any ParsableCommand.Type, [String]) {
    var (command, path): (any ParsableCommand.Type, [String]) = (Glucoport.self, [])
    for word in words {
      let next = command.configuration.subcommands.first { $0.configuration.commandName == word }
      guard let next else { break }
      (command, path) = (next, path + [word])
    }
    return (command, path)
  }

  /// The usage of the command that the first words name, as the parser prints it below an error. Nil if they
  /// name none.
  var usage: Substring? {
    let path = typeAndPath.1
    guard !path.isEmpty else { return nil }
    do {
      _ = try Glucoport.parseAsRoot(path + ["--unknown-option"])
      return nil
    } catch {
      let message = Glucoport.fullMessage(for: error)
      return message.firstRange(of: Self.usageStart).map { message[$0.lowerBound...] }
    }
  }

  /// The start of the line that follows an error of the parser.
  static let usageStart = "\nUsage: "

  /// Reports an unknown option. The parser reports it only after the command has validated the known options.
  /// In this validation, the value of an unknown option would count as a file.
  private func refuseUnknownOption() throws {
    let (command, path) = typeAndPath
    let help = Glucoport.helpMessage(for: command, columns: 10_000)
    let known = Set(help.split { !($0.isLetter || $0 == "-") }.filter { $0.hasPrefix("-") }.map(String.init))
    for word in words.prefix(while: { $0 != "--" }) where word.hasPrefix("-") && word != "-" {
      let name = String(word.prefix { $0 != "=" })
      if known.contains(name) { continue }
      let long = known.filter { $0.hasPrefix("--") }.sorted()
      let near = NearestWord.of(name, among: long) ?? long.first { $0.hasSuffix(name.dropFirst(2)) }
      // For `--json` and for a single letter, no similar option is suggested, since no other option can be
      // meant.
      let advice =
        (name == "--json" || !name.hasPrefix("--") ? nil : near).map { "did you mean '\($0)'?" }
        ?? "'\((["glucoport", "help"] + path).joined(separator: " "))' lists the options."
      throw ValidationError("Unknown option '\(name)'; \(advice)")
    }
  }

  /// Reports a name such as '-dash.csv'. The parser would read each letter as an option, and 'h' as a request
  /// for help.
  private func refuseJoinedOptions() throws {
    let joined = words.prefix { $0 != "--" }.first { word in
      word.utf8.count > 2 && word.hasPrefix("-") && !word.hasPrefix("--")
    }
    if let joined {
      throw ValidationError("Unknown option '\(joined)'; to name a file like this write './\(joined)'.")
    }
  }

  /// Refuses arguments that are not UTF-8. Only names of files may have other bytes, since all other
  /// arguments are stored, sent and shown as text.
  private func refuseBytes(in value: Any) throws {
    if value is PathArgument { return }
    if let text = value as? String, PathText.isEscaped(text) {
      throw ValidationError("'\(text)' is not valid UTF-8; set the terminal and the locale to UTF-8.")
    }
    for child in Mirror(reflecting: value).children { try refuseBytes(in: child.value) }
  }
}
