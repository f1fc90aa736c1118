/// A command of the tool.
enum Command {
  /// Writes the Swift file of a model. `besides` are other models of the same target, `history` are the files of the
  /// model's released versions.
  case generate(model: String, output: String, besides: [String], history: [String])
  /// Reports the errors of models.
  case check([String])
  /// Prints the Swift code of a model.
  case show(String)
  case help

  static let usage = """
    usage: trellis-gen <model.json> <output.swift> [<model.json> ...] [--history <version.json> ...]
                                                     write the Swift file of a model, which may not use the names of
                                                     other models of its target, if its released versions are unchanged
           trellis-gen --check <model.json> ...      say what is wrong with models
           trellis-gen --print <model.json>          show the Swift of a model

    """

  /// Returns nil if the arguments are invalid.
  init?(_ arguments: [String]) {
    switch (arguments.first, arguments.count) {
    case ("--help", _), ("-h", _): self = .help
    case ("--check", 2...): self = .check(Array(arguments.dropFirst()))
    case ("--print", 2): self = .show(arguments[1])
    case (let model?, 2...) where !model.hasPrefix("--"):
      let parts = arguments.dropFirst(2).split(separator: "--history", maxSplits: 1, omittingEmptySubsequences: false)
      self = .generate(
        model: model, output: arguments[1], besides: Array(parts[0]), history: Array(parts.dropFirst().joined()))
    default: return nil
    }
  }
}
