import TrellisModel
import TrellisRuntime

/// `trellis query`: the objects that match a predicate.
enum Query {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let container = try StoreOperand(operands[0]).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(operands[0]) {
      let request = try ObjectRequest(
        operands[1], where: operands[2], Array(operands.dropFirst(3)), arguments, of: .query,
        in: container.newContext())
      if arguments.has("explain") {
        Console.print("\(try request.plan())\n")
      } else if arguments.has("count") {
        Console.print("\(try request.count())\n")
      } else {
        Console.print(arguments.has("json") ? try request.json() : try request.table())
      }
    }
    return .success
  }
}

// MARK: - Command

extension Query {
  static let command = Command(
    operands: "STORE ENTITY FORMAT [VALUE...]", needed: "a STORE, an ENTITY and a FORMAT", count: 3...Int.max,
    options: [
      .init(name: "explain", value: nil, summary: "print how the store finds the objects, and a missing index"),
      .init(name: "count", value: nil, summary: "print the number of objects"),
    ] + Command.Option.pages + [.columns, .json],
    summary: "list the objects that match a predicate",
    details: """
      FORMAT is a predicate in the format language, and each VALUE stands for one %@ in it: a number, true, a date, a
      UUID, an object as Tag#7, nil, a text, or a list of these as a JSON array: "name IN %@" '["sea", "sun"]'. Columns are
      left out as by list. The store is only read.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
