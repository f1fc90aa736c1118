/// The texts that explain the tool.
enum Help {
  /// The text for a command; for the whole tool if it is nil.
  static func text(of command: ToolCommand?) -> String {
    guard let command else { return overview }
    var text = usage(of: command) + "\n\n" + command.command.summary.capitalizedSentence + ".\n\n"
    let options = command.command.options.map {
      ("--" + $0.name + ($0.value.map { " \($0)" } ?? ""), $0.summary)
    }
    if !options.isEmpty { text += table(options) + "\n" }
    return text + command.command.details + "\n"
  }

  /// The line that an error about the arguments ends with.
  static func usage(of command: ToolCommand?) -> String {
    guard let command else { return "usage: trellis <command> ..., and `trellis help` lists the commands" }
    let options = command.command.options.map { "[--\($0.name)\($0.value.map { " \($0)" } ?? "")]" }
    return "usage: trellis " + ([command.rawValue] + options + [command.command.operands]).joined(separator: " ")
  }

  private static var overview: String {
    """
    usage: trellis <command> ...

    Works with the model files of Trellis, their released versions, and stores.

    \(table(ToolCommand.allCases.map { ($0.rawValue, $0.command.summary) }))
    `trellis help <command>` explains a command.

    """
  }

  private static func table(_ rows: [(name: String, summary: String)]) -> String {
    let width = rows.map(\.name.count).max() ?? 0
    return rows.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count + 2))\($0.summary)\n" }
      .joined()
  }
}

extension String {
  fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }
}
