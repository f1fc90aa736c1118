import TrellisModel

/// What the arguments of the process ask for.
enum Invocation {
  /// The help of a command, or of the whole tool.
  case help(ToolCommand?)
  case run(ToolCommand, ParsedArguments)

  init(_ arguments: [String]) throws(ToolFailure) {
    guard let first = arguments.first else { throw .usage("A command is missing.", of: nil) }
    if ["help", "--help", "-h"].contains(first) {
      self = .help(try arguments.dropFirst().first.map { name throws(ToolFailure) in try Self.command(named: name) })
      return
    }
    let command = try Self.command(named: first)
    let rest = Array(arguments.dropFirst())
    let isHelp = rest.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    self = isHelp ? .help(command) : .run(command, try ParsedArguments(rest, of: command))
  }

  private static func command(named name: String) throws(ToolFailure) -> ToolCommand {
    if let command = ToolCommand(rawValue: name) { return command }
    if name.hasPrefix("-") { throw .usage("\(name.inMessage) is no option that stands before a command.", of: nil) }
    throw .usage("\(name.inMessage) is no command\(ToolFailure.suggestion(ToolCommand.meant(by: name)))", of: nil)
  }
}

/// The operands and options of a command.
///
/// Options may stand between operands, a value follows its option or a `=`, and after `--` everything is an operand.
struct ParsedArguments {
  private(set) var operands: [String] = []
  /// The given options with their values; the value of an option without one is empty.
  private var options: [String: [String]] = [:]

  func has(_ option: String) -> Bool { options[option] != nil }

  func value(of option: String) -> String? { options[option]?.first }

  /// The values of an option that may be given several times, in their order.
  func values(of option: String) -> [String] { options[option] ?? [] }

  init(_ arguments: [String], of command: ToolCommand) throws(ToolFailure) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        break
      }
      if argument.hasPrefix("-") && argument != "-" {
        try add(option: argument, &rest, command)
      } else {
        operands.append(argument)
      }
    }
    // What may be given without limit are values, which may be empty.
    let count = command.command.count
    let named = operands.prefix(count.upperBound == .max ? count.lowerBound : count.upperBound)
    if let place = named.firstIndex(where: \.isEmpty) {
      throw .usage("\(command.command.operandName(place)) is empty.", of: command)
    }
    if operands.count < command.command.count.lowerBound {
      throw .usage("\(command.rawValue) needs \(command.command.needed).", of: command)
    }
    if operands.count > command.command.count.upperBound {
      let surplus = operands[command.command.count.upperBound]
      throw .usage("\(surplus.inMessage) is more than \(command.rawValue) takes.", of: command)
    }
  }

  private mutating func add(
    option argument: String, _ rest: inout ArraySlice<String>, _ command: ToolCommand
  ) throws(ToolFailure) {
    let parts = argument.drop { $0 == "-" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first.map(String.init) ?? ""
    guard argument.hasPrefix("--"), let option = command.command.options.first(where: { $0.name == name }) else {
      let suggestion = ToolFailure.suggestion(for: "--" + name, among: command.command.options.map { "--" + $0.name })
      throw .usage("\(argument.inMessage) is no option of \(command.rawValue)\(suggestion)", of: command)
    }
    guard options[name] == nil || option.isRepeatable else {
      throw .usage("--\(name) is given twice.", of: command)
    }
    guard let value = option.value else {
      guard parts.count == 1 else { throw .usage("--\(name) takes no value.", of: command) }
      return options[name] = [""]
    }
    guard let given = parts.count > 1 ? String(parts[1]) : rest.popFirst(), !given.isEmpty else {
      throw .usage("--\(name) needs \(value).", of: command)
    }
    options[name, default: []].append(given)
  }
}

extension ParsedArguments {
  /// The number of an option; nil if it is not given.
  func count(_ option: String, of command: ToolCommand) throws(ToolFailure) -> Int? {
    guard let text = value(of: option) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw .usage("\(text.inMessage) is no number for --\(option).", of: command)
    }
    return number
  }
}

extension ToolFailure {
  static func usage(_ message: String, of command: ToolCommand?) -> ToolFailure {
    ToolFailure(.usage, "error: \(message)\n\(Help.usage(of: command))\n")
  }

  /// The end of a sentence: the closest of some names, if one is close.
  static func suggestion(for name: String, among names: [String]) -> String {
    suggestion(NearestName.closest(to: name, among: names))
  }

  /// The end of a message that suggests a name.
  fileprivate static func suggestion(_ name: String?) -> String { name.map { "; did you mean '\($0)'?" } ?? "." }
}

extension String {
  /// The text in quotes on one line of bounded length, whatever was typed.
  var inMessage: String {
    let scalars = unicodeScalars.prefix(200).map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }
    return "'\(String(String.UnicodeScalarView(scalars)))'"
  }
}
