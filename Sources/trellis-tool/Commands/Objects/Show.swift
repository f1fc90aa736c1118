import TrellisDiagram
import TrellisDynamic
import TrellisModel
import TrellisRuntime

/// `trellis show` and `trellis get`: one object, or one of its properties.
enum Show {
  /// The number of members that are named.
  private static let mostNames = 10
  private static let mostLetters = 200

  static func run(_ path: String, _ name: String, asJSON: Bool) throws(ToolFailure) -> ExitStatus {
    try withObject(path, name, .show) { object in
      if asJSON { return Console.print(try ObjectJSON.text(object, members: true) + "\n") }
      let properties = try object.ownEntity().properties.filter { !$0.isTransient }
      let rows = try properties.map {
        ["", $0.name, try ObjectText.line($0, of: object, length: mostLetters, names: mostNames)]
      }
      Console.print("\(object)\n" + TextTable(rows).text)
    }
  }

  /// Prints the exact text of a property, or a line with the name of each partner.
  static func get(_ path: String, _ name: String, _ property: String, asJSON: Bool) throws(ToolFailure) -> ExitStatus {
    try withObject(path, name, .get) { object in
      let property = try object.ownEntity().needProperty(property)
      if asJSON {
        return Console.print((try ObjectJSON.value(of: property, of: object, members: true) ?? "null") + "\n")
      }
      switch property {
      case .attribute(let attribute):
        Console.print(try ValueText(attribute).text(try object.value(attribute.name)) + "\n")
      case .relationship(let relationship) where relationship.isToMany:
        Console.print(try object.members(relationship.name).map { "\($0)\n" }.joined())
      case .relationship(let relationship):
        Console.print((try ObjectText.partnerName(of: object, relationship) ?? "nil") + "\n")
      }
    }
  }

  private static func withObject(
    _ path: String, _ name: String, _ command: ToolCommand, _ body: (DynamicObject) throws -> Void
  ) throws(ToolFailure) -> ExitStatus {
    let name = try ObjectName.read(name, of: command)
    let container = try StoreOperand(path).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(path) {
      let context = container.newContext()
      // The object does not keep its context.
      try withExtendedLifetime(context) { try body(try context.object(name)) }
    }
    return .success
  }
}

// MARK: - Command

extension Show {
  static let command = Command(
    operands: "STORE OBJECT", needed: "a STORE and an OBJECT", count: 2...2, options: [.json],
    summary: "show an object of a store with its values and partners",
    details: "OBJECT is the entity and the key, as in Tag#7. Exit 1 if there is none. The store is only read."
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], arguments.operands[1], asJSON: arguments.has("json"))
  }

  static let getting = Command(
    operands: "STORE OBJECT PROPERTY", needed: "a STORE, an OBJECT and a PROPERTY", count: 3...3,
    options: [.json], summary: "print one value of an object, whole",
    details:
      "A relationship prints a line for each partner. What is printed is what set takes. The store is only read."
  ) { arguments throws(ToolFailure) in
    try get(arguments.operands[0], arguments.operands[1], arguments.operands[2], asJSON: arguments.has("json"))
  }
}
