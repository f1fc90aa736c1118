/// A command of the tool.
enum Command {
  /// Writes the Swift files of a model. `files` is their number; nil for as many as the model needs. `besides` are other
  /// models of the same target, `history` are the files of the model's released versions.
  case generate(model: String, output: String, files: Int?, besides: [String], history: [String])
  /// Reports the errors of models.
  case check([String])
  /// Prints the Swift code of a model.
  case show(String)
  case help

  static let usage = """
    usage: trellis-gen <model.json> <output.swift> [<model.json> ...] [--files <number>] [--history <version.json> ...]
                                                     write the Swift file of a model, which may not use the names of
                                                     other models of its target, if its released versions are unchanged;
                                                     a large model has further files, <output.2.swift> and so on, as
                                                     many as it needs unless their number is given
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
      let options = parts[0].split(separator: "--files", maxSplits: 1, omittingEmptySubsequences: false)
      var files: Int?
      if options.count > 1 {
        guard options[1].count == 1, let number = options[1].first.flatMap({ Int($0) }), 1...10_000 ~= number else {
          return nil
        }
        files = number
      }
      self = .generate(
        model: model, output: arguments[1], files: files, besides: Array(options[0]),
        history: Array(parts.dropFirst().joined()))
    default: return nil
    }
  }
}
