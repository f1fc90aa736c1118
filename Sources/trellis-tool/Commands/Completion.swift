/// `trellis completion`: a script that completes commands, options and file names in a shell.
enum Completion {
  private enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  static func run(_ name: String) throws(ToolFailure) -> ExitStatus {
    guard let shell = Shell(rawValue: name) else {
      let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
      throw .usage("\(name.inMessage) is no shell that is known; there are \(names).", of: .completion)
    }
    switch shell {
    case .bash: Console.print(bash)
    case .zsh: Console.print(zsh)
    case .fish: Console.print(fish)
    }
    return .success
  }

  private static var names: String { ToolCommand.allCases.map(\.rawValue).joined(separator: " ") }

  private static func options(of command: ToolCommand) -> [Command.Option] {
    command.command.options + [.init(name: "help", value: nil, summary: "explain the command")]
  }

  private static var bash: String {
    let cases = ToolCommand.allCases.map { command in
      "      \(command.rawValue)) words=\"\(options(of: command).map { "--" + $0.name }.joined(separator: " "))\" ;;\n"
    }
    return """
      _trellis() {
        local word="${COMP_WORDS[COMP_CWORD]}" words=""
        if [ "$COMP_CWORD" -eq 1 ]; then
          words="\(names) help"
        elif [ "${COMP_WORDS[1]}" = help ]; then
          words="\(names)"
        elif [ "${word:0:1}" = - ]; then
          case "${COMP_WORDS[1]}" in
      \(cases.joined())    esac
        fi
        if [ -n "$words" ]; then
          COMPREPLY=($(compgen -W "$words" -- "$word"))
        else
          COMPREPLY=($(compgen -f -- "$word"))
        fi
      }
      complete -o filenames -F _trellis trellis

      """
  }

  private static var zsh: String {
    let commands = ToolCommand.allCases.map { "    '\($0.rawValue):\(quoted($0.command.summary))'\n" }
    let cases = ToolCommand.allCases.map { command in
      let options = options(of: command).map { option in
        "'\(option.isRepeatable ? "*" : "")--\(option.name)\(option.value == nil ? "" : "=")[\(quoted(option.summary))]\(option.value.map { ":\($0):_files" } ?? "")'"
      }
      return "    \(command.rawValue)) _arguments \(options.joined(separator: " ")) '*:file:_files' ;;\n"
    }
    return """
      #compdef trellis
      _trellis() {
        local -a commands=(
      \(commands.joined())  )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        local command="$words[2]"
        shift words
        (( CURRENT-- ))
        case "$command" in
      \(cases.joined())    esac
      }
      compdef _trellis trellis

      """
  }

  private static var fish: String {
    var lines: [String] = []
    for command in ToolCommand.allCases {
      let name = command.rawValue
      lines.append(
        "complete -c trellis -n __fish_use_subcommand -f -a \(name) -d '\(quoted(command.command.summary))'")
      for option in options(of: command) {
        lines.append(
          "complete -c trellis -n '__fish_seen_subcommand_from \(name)' -l \(option.name)\(option.value == nil ? "" : " -r")"
            + " -d '\(quoted(option.summary))'")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A text within single quotes and brackets of a shell.
  private static func quoted(_ text: String) -> String {
    text.filter { !"'[]:\\".contains($0) }
  }
}

// MARK: - Command

extension Completion {
  static let command = Command(
    operands: "SHELL", needed: "a SHELL: bash, zsh or fish", count: 1...1,
    summary: "print a script that completes commands and options in a shell",
    details: """
      In bash: `source <(trellis completion bash)`. In zsh: `source <(trellis completion zsh)` after compinit. In fish:
      `trellis completion fish | source`.
      """
  ) { arguments throws(ToolFailure) in try run(arguments.operands[0]) }
}
