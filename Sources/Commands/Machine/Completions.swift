// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The scripts with which a shell completes words of a `glucoport` command line.
///
/// They are the scripts of ArgumentParser with some changes. After `help`, they offer the names of commands.
/// In Bash, they offer the names of the shells for which a script exists. The script for fish does not ask
/// for the position of the cursor, since fish 3 knows the position only at a terminal.
package struct CompletionScript {
  private let root: any ParsableCommand.Type

  /// - Parameter root: the command that contains all others.
  package init(of root: any ParsableCommand.Type) { self.root = root }

  /// The completion script for a shell.
  package func text(for shell: CompletionShell) -> String {
    let script = root.completionScript(for: shell)
    switch shell {
    case .bash:
      let start = #"local -r prev="${3}""#
      return script.replacing(start, with: start + shells) + "\n" + bash
    case .zsh:
      // The script calls its main function after this text. The main function may call the function that is
      // inserted here, so the inserted function must be defined first.
      let start = #"if [[ "${funcstack[1]}""#
      return script.replacing("'*:subcommands:'", with: "'*:subcommands:__glucoport_help_commands'")
        .replacing(start, with: zsh + start)
    case .fish: return script.replacing("(__glucoport_tokens -tC)", with: "0") + "\n" + fish
    default: return script
    }
  }

  /// For each command that has subcommands: the words that name the command after `help`, and the names of
  /// its subcommands.
  private var groups: [(path: String, names: [String])] { Self.groups(of: root, "") }

  private static func groups(of command: any ParsableCommand.Type, _ path: String) -> [(String, [String])] {
    let below = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    let names = below.compactMap { $0.configuration.commandName }
    if names.isEmpty { return [] }
    return [(path, names)]
      + zip(below, names).flatMap { groups(of: $0, path.isEmpty ? $1 : "\(path) \($1)") }
  }

  private var shells: String {
    let names = CompletionShell.allCases.map(\.rawValue).joined(separator: " ")
    return """


          if [[ "${prev}" == '--generate-completion-script' ]]; then
              COMPREPLY=($(compgen -W '\(names)' -- "${cur}"))
              return
          fi
      """
  }

  private var bash: String {
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

  private var zsh: String {
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

  private var fish: String {
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
