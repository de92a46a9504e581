// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logbook
import Meters
import Remotes
import Report

/// The values that a shell completes, for options and arguments that accept one of a list.
extension CompletionKind {
  /// The ids of the export formats.
  static var formats: CompletionKind { .list(FormatRegister.all.map(\.id)) }

  /// The ids of the meter drivers.
  static var drivers: CompletionKind { .list(DriverRegister.all.map { $0.id }) }

  /// The kinds of servers.
  static var remoteKinds: CompletionKind { .list(RemoteRegister.all.map { $0.id }) }

  /// The languages of the report.
  static var languages: CompletionKind { .list(PageTexts.all.map(\.code)) }

  /// The named target ranges.
  static var targets: CompletionKind { .list(Targets.named.map(\.name)) }

  /// The kinds of records that a person can add.
  static var recordKinds: CompletionKind { .list(RecordKind.allValueStrings) }

  /// The subtypes of all kinds of records.
  static var subtypes: CompletionKind { .list(RecordKindDescription.all.flatMap(\.subtypes)) }

  /// The settings of the store.
  static var settings: CompletionKind { .list(ConfigSetting.allCases.map(\.rawValue)) }

  /// The values of the setting that the words name.
  static var settingValues: CompletionKind {
    .custom { words, index, _ in
      words.prefix(index).last { ConfigSetting(rawValue: $0) != nil }.flatMap(ConfigSetting.init)?.values
        ?? []
    }
  }

  /// The time zones that the system knows. The program is asked for them, since each script would repeat hundreds of names.
  static var zones: CompletionKind { .custom { _, _, _ in NamedZone.names } }

  /// Several of these values with commas between them, each at most once.
  static func commaSeparated(_ names: [String]) -> CompletionKind {
    .custom { words, index, _ in
      guard words.indices.contains(index) else { return names }
      let chosen = words[index].split(separator: ",", omittingEmptySubsequences: false).dropLast()
      let start = chosen.map { $0 + "," }.joined()
      return names.filter { name in !chosen.contains { $0 == name } }.map { start + $0 }
    }
  }

  /// The persons who have a store here.
  static var persons: CompletionKind {
    .custom { _, _, _ in
      // A shell has no place for a message while it completes; the command itself reports the reason.
      do { return try PersonList.load().all.map(\.name) } catch { return [] }
    }
  }
}

/// The scripts that let a shell complete words of the command line.
///
/// They are those of the parser, which completes nothing after `help`: each gets a function that offers the commands there.
/// Bash gets the shells that have a script. In fish 3, a command without a terminal cannot ask for the place of the cursor in a
/// word, which no completion here needs.
enum CompletionScript {
  /// The script for a shell.
  static func text(for shell: CompletionShell) -> String {
    let script = Glucoport.completionScript(for: shell)
    switch shell {
    case .bash:
      let start = #"local -r prev="${3}""#
      return script.replacing(start, with: start + shells) + "\n" + bash
    case .zsh:
      // Below it the parser's script calls its first function, which may be this very call.
      let start = #"if [[ "${funcstack[1]}""#
      return script.replacing("'*:subcommands:'", with: "'*:subcommands:__glucoport_help_commands'")
        .replacing(start, with: zsh + start)
    case .fish: return script.replacing("(__glucoport_tokens -tC)", with: "0") + "\n" + fish
    default: return script
    }
  }

  /// The commands that have others below them, as words after `help`, with the names of those.
  private static var groups: [(path: String, names: [String])] { groups(of: Glucoport.self, "") }

  private static func groups(of command: any ParsableCommand.Type, _ path: String) -> [(String, [String])] {
    let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    let names = below.compactMap { $0.configuration.commandName }
    if names.isEmpty { return [] }
    return [(path, names)]
      + zip(below, names).flatMap { groups(of: $0, path.isEmpty ? $1 : "\(path) \($1)") }
  }

  private static var shells: String {
    let names = CompletionShell.allCases.map(\.rawValue).joined(separator: " ")
    return """


          if [[ "${prev}" == '--generate-completion-script' ]]; then
              COMPREPLY=($(compgen -W '\(names)' -- "${cur}"))
              return
          fi
      """
  }

  private static var bash: String {
    let cases = groups.map { "    '\($0.path)') names='\($0.names.joined(separator: " "))' ;;\n" }.joined()
    return """
      _glucoport_help() {
          # The last of these words is the one to complete.
          local -i count="$((${#unparsed_words[@]} - 1))"
          local names=''
          case "${unparsed_words[*]:0:$((count < 0 ? 0 : count))}" in
      \(cases)    esac
          COMPREPLY+=($(compgen -W "${names}" -- "${cur}"))
      }
      """
  }

  private static var zsh: String {
    let cases = groups.map { "    '\($0.path)') names=(\($0.names.joined(separator: " "))) ;;\n" }.joined()
    return """
      __glucoport_help_commands() {
          local -a names
          # The first word is 'help'.
          case "${(j: :)words[2,CURRENT-1]}" in
      \(cases)    esac
          __glucoport_complete "${names[@]}"
      }


      """
  }

  private static var fish: String {
    let cases = groups.map { path, names in
      "        case '\(path)'\n            printf '%s\\n' \(names.joined(separator: " "))\n"
    }.joined()
    return """
      function __glucoport_help_commands
          # The first two words are 'glucoport' and 'help'.
          set -l words (__glucoport_tokens -pc)
          switch (string join ' ' -- $words[3..])
      \(cases)    end
      end

      complete -c 'glucoport' -n '__glucoport_should_offer_completions_for_positional "glucoport help" -ge 1' \
      -fka '(__glucoport_help_commands)'
      """
  }
}
