import TrellisModel
import TrellisRuntime
import TrellisTimeTravel

/// `trellis diff-data`: what differs in a store between two moments.
enum DiffData {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    guard let since = try MomentArgument.option("since", arguments, of: .diffData) else {
      throw .usage("diff-data needs --since.", of: .diffData)
    }
    let until = try MomentArgument.option("until", arguments, of: .diffData)
    let limit = try arguments.count("limit", of: .diffData) ?? .max
    let container = try StoreOperand(path).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(path) {
      var entity: Entity?
      if arguments.operands.count > 1 { entity = try container.model.needEntity(arguments.operands[1]) }
      var printer = Printer(isJSON: arguments.has("json"), limit: limit, model: container.model)
      let (start, end) = (try since.token(in: container), try until?.token(in: container))
      if let end, end.transaction < start.transaction {
        throw ToolFailure(
          .failure,
          "error: --since \(since.inMessage) is save \(start.transaction), which is later than save \(end.transaction) of --until. "
            + "Exchange the two.")
      }
      do {
        try container.differences(since: start, until: end, of: entity, comparingAll: arguments.has("all")) {
          try printer.add($0)
        }
      } catch is Printer.Full {}
      printer.end()
    }
    return .success
  }

  /// Prints each object as soon as it is known.
  private struct Printer {
    struct Full: Error {}

    let isJSON: Bool
    let limit: Int
    let model: Model
    private var count = 0

    init(isJSON: Bool, limit: Int, model: Model) {
      self.isJSON = isJSON
      self.limit = limit
      self.model = model
    }

    mutating func add(_ difference: ObjectDifference) throws {
      if count == limit {
        if !isJSON { Console.print("more objects differ; --limit sets how many are shown\n") }
        throw Full()
      }
      let text = DifferenceText(difference, model)
      Console.print(isJSON ? (count == 0 ? "[\n  " : ",\n  ") + text.json : text.text)
      count += 1
    }

    func end() {
      if isJSON {
        Console.print(count == 0 ? "[]\n" : "\n]\n")
      } else if count == 0 {
        Console.print("nothing differs\n")
      }
    }
  }
}

// MARK: - Command

extension DiffData {
  static let command = Command(
    operands: "STORE [ENTITY]", needed: "a STORE", count: 1...2,
    options: [
      Command.Option(name: "since", value: "MOMENT", summary: "the earlier moment"),
      Command.Option(name: "until", value: "MOMENT", summary: "the later moment; now without it"),
      Command.Option(name: "limit", value: "N", summary: "print N objects at most"),
      Command.Option(
        name: "all", value: nil, summary: "compare all objects, also those that the history does not list"),
      .json,
    ],
    summary: "tell what differs in a store between two moments",
    details: """
      Each object that was inserted, updated or deleted is printed with the values that differ. The model needs
      "history": "values". The store is only read.

      """ + Command.moments
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
