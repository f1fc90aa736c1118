/// A command, with everything that parsing and help have to know of it.
struct Command: Sendable {
  struct Option: Sendable {
    let name: String
    /// What stands for the value in the help; nil for an option without a value.
    let value: String?
    let summary: String
    /// Whether the option may be given several times.
    var isRepeatable = false
  }

  /// What stands for the operands in the help.
  let operands: String
  /// The operands in a sentence.
  let needed: String
  let count: ClosedRange<Int>
  let options: [Option]
  /// What the command does, in one line.
  let summary: String
  /// What a caller should know beyond the summary.
  let details: String
  let run: @Sendable (ParsedArguments) throws(ToolFailure) -> ExitStatus

  init(
    operands: String, needed: String, count: ClosedRange<Int>, options: [Option] = [], summary: String,
    details: String, run: @escaping @Sendable (ParsedArguments) throws(ToolFailure) -> ExitStatus
  ) {
    self.operands = operands
    self.needed = needed
    self.count = count
    self.options = options
    self.summary = summary
    self.details = details
    self.run = run
  }

  /// What stands for an operand in the help: `STORE` for the first one of `STORE ENTITY FORMAT [VALUE...]`.
  func operandName(_ place: Int) -> String {
    let names = operands.split(separator: " ").map { $0.filter { $0.isLetter || $0 == "=" } }
    return names.isEmpty ? "An argument" : names[min(place, names.count - 1)]
  }
}

// MARK: - Shared

extension Command.Option {
  static let json = Command.Option(name: "json", value: nil, summary: "print JSON for other programs")
  static let write = Command.Option(name: "write", value: nil, summary: "write the change; without it, only tell it")
  static let columns = Command.Option(
    name: "columns", value: "NAMES", summary: "show these properties, with commas between; all for each of them")
  static let pages = [
    Command.Option(
      name: "sort", value: "NAMES", summary: "sort by properties with commas between, -name from the greatest on"),
    Command.Option(name: "limit", value: "N", summary: "print N objects at most"),
    Command.Option(name: "offset", value: "N", summary: "leave out the first N objects"),
  ]
}

extension Command {
  static let changes = """
    Without --write, the file is only read: the change is checked by all rules of the model and printed, and the exit
    code is 2. With broken rules, each is printed, nothing is written in any case, and the exit code is 1. Hooks do not
    run, since they are code of the program.
    """
}
