import TrellisDynamic
import TrellisRuntime
import TrellisTimeTravel

/// `trellis restore`: an object as it was.
enum Restore {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let name = try ObjectName.read(arguments.operands[1], of: .restore)
    guard let moment = try MomentArgument.option("as-of", arguments, of: .restore) else {
      throw .usage("restore needs --as-of.", of: .restore)
    }
    return try StoreChange.run(arguments.operands[0], isWritten: arguments.has("write"), keepsKeys: true) {
      container, context in
      let entity = try context.model.needEntity(name.entity)
      let restoration = try container.restore(
        AnyObjectID(name.key, entity: entity.index, in: context), asOf: moment.token(in: container), in: context,
        withParts: arguments.has("parts"))
      for loss in restoration.losses { Console.complain("not restored: \(loss)\n") }
      return restoration.objects.compactMap { $0 as? DynamicObject }
    }
  }
}

// MARK: - Command

extension Restore {
  static let command = Command(
    operands: "STORE OBJECT", needed: "a STORE and an OBJECT", count: 2...2,
    options: [
      Command.Option(name: "as-of", value: "MOMENT", summary: "the moment as of which the object is restored"),
      Command.Option(
        name: "parts", value: nil, summary: "bring back deleted parts, which a delete of the object takes along"),
      .write,
    ],
    summary: "make an object as it was, also a deleted one",
    details: """
      Values, partners and the order of members become those of the moment. A deleted object comes back with its key. What
      cannot be restored is printed and stays as it is. The model needs "history": "values".

      """ + Command.moments + "\n\n" + Command.changes
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
