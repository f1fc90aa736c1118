import TrellisDynamic
import TrellisModel
import TrellisRuntime

/// `trellis list`: the entities of a store with their numbers of objects, or the objects of one.
enum List {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let container = try StoreOperand(path).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(path) {
      let context = container.newContext()
      guard arguments.operands.count > 1 else {
        try Self.refuse(["where", "sort", "limit", "offset", "columns"], arguments)
        return Console.print(try entities(context, asJSON: arguments.has("json")))
      }
      let request = try ObjectRequest(
        arguments.operands[1], where: arguments.value(of: "where"), [], arguments, of: .list, in: context)
      Console.print(arguments.has("json") ? try request.json() : try request.table())
    }
    return .success
  }

  private static func refuse(_ options: [String], _ arguments: ParsedArguments) throws(ToolFailure) {
    guard let option = options.first(where: arguments.has) else { return }
    throw .usage("--\(option) needs an ENTITY.", of: .list)
  }

  /// The entities with their numbers of objects.
  static func entities(_ context: ManagedObjectContext, asJSON: Bool) throws -> String {
    let model = context.model
    var rows = [["entity", "objects"]]
    var lines: [String] = []
    func add(_ entity: Entity, level: Int) throws {
      // The objects of subentities are counted at these.
      let count = try context.count(of: context.request(for: entity.index, includesSubentities: false))
      rows.append([String(repeating: "  ", count: level) + entity.name, entity.isAbstract ? "" : "\(count)"])
      lines.append(
        JSONText.object([
          ("entity", JSONText.quoted(entity.name)),
          ("parent", entity.parent.map { JSONText.quoted(model.entities[$0].name) } ?? "null"),
          ("abstract", "\(entity.isAbstract)"), ("objects", "\(count)"),
        ]))
      for child in model.entities where child.parent == entity.index { try add(child, level: level + 1) }
    }
    for entity in model.entities where entity.parent == nil { try add(entity, level: 0) }
    return asJSON ? JSONText.lines(lines) : TextTable(rows, numbers: [1]).text
  }
}

// MARK: - Command

extension List {
  static let command = Command(
    operands: "STORE [ENTITY]", needed: "a STORE", count: 1...2,
    options: [.init(name: "where", value: "FORMAT", summary: "only the objects that match a predicate")]
      + Command.Option.pages + [.columns, .json],
    summary: "list the entities of a store, or the objects of one",
    details: """
      The store is only read. Objects of subentities are listed, too. Columns for which the line has no room, and
      relationships to many, are left out and named, unless --columns asks for them. A line has the width of the terminal,
      or of COLUMNS in the environment.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
