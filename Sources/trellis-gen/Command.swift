/// What the tool is asked to do.
enum Command {
  /// Write the Swift file of a model.
  case generate(model: String, output: String)
  /// Say what is wrong with models.
  case check([String])
  /// Show the Swift of a model.
  case show(String)
  case help

  static let usage = """
    usage: trellis-gen <model.json> <output.swift>   write the Swift file of a model
           trellis-gen --check <model.json> ...      say what is wrong with models
           trellis-gen --print <model.json>          show the Swift of a model

    """

  /// Nil when the arguments say nothing of the kind.
  init?(_ arguments: [String]) {
    switch (arguments.first, arguments.count) {
    case ("--help", _), ("-h", _): self = .help
    case ("--check", 2...): self = .check(Array(arguments.dropFirst()))
    case ("--print", 2): self = .show(arguments[1])
    case (let model?, 2) where !model.hasPrefix("--"): self = .generate(model: model, output: arguments[1])
    default: return nil
    }
  }
}
