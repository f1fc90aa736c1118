import TrellisModel
import TrellisRuntime

/// `trellis query`: the objects that match a predicate.
enum Query {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let container = try StoreFile(operands[0]).container(readOnly: true)
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
