import TrellisDynamic
import TrellisModel
import TrellisRuntime

/// `trellis set`: other values and partners of an object.
enum SetValues {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let name = try ObjectName.read(operands[1], of: .set)
    let assignments = try Assignment.all(operands.dropFirst(2), of: .set)
    return try StoreChange.run(operands[0], isWritten: arguments.has("write")) { context in
      let object = try context.object(name)
      try Assignments(assignments, to: object.ownEntity(), in: context).apply(to: object, isNew: false)
      return [object]
    }
  }
}

/// `trellis insert`: a new object.
enum Insert {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    let assignments = try Assignment.all(operands.dropFirst(2), of: .insert)
    return try StoreChange.run(operands[0], isWritten: arguments.has("write")) { context in
      let entity = try context.model.needEntity(operands[1])
      return [try Assignments(assignments, to: entity, in: context).insert(into: context)]
    }
  }
}

/// `trellis delete`: objects that go, with everything that the delete rules take along.
enum Delete {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    var names: [ObjectName] = []
    for operand in operands.dropFirst() { names.append(try ObjectName.read(operand, of: .delete)) }
    return try StoreChange.run(operands[0], isWritten: arguments.has("write")) { [names] context in
      let objects = try names.map { try context.object($0) }
      for object in objects where !object.isDeleted { try context.delete(object) }
      return objects
    }
  }
}

// MARK: - Command

extension SetValues {
  static let command = Command(
    operands: "STORE OBJECT NAME=VALUE...", needed: "a STORE, an OBJECT and a NAME=VALUE", count: 3...Int.max,
    options: [.write], summary: "change values and partners of an object",
    details: """
      A VALUE is a text, a number, an ISO 8601 date, true or false, the name of a case, Base64, JSON for lists and
      structs, or nil. Partners are named: diary=EmotionDiary#3, tags=Tag#1,Tag#2, tags+=Tag#3, tags-=Tag#4.

      """ + Command.changes
  ) { arguments throws(ToolFailure) in try run(arguments) }
}

extension Insert {
  static let command = Command(
    operands: "STORE ENTITY [NAME=VALUE...]", needed: "a STORE and an ENTITY", count: 2...Int.max,
    options: [.write], summary: "insert an object",
    details: "Values are written as for set. The model's defaults apply to what is not given.\n" + Command.changes
  ) { arguments throws(ToolFailure) in try run(arguments) }
}

extension Delete {
  static let command = Command(
    operands: "STORE OBJECT...", needed: "a STORE and an OBJECT", count: 2...Int.max, options: [.write],
    summary: "delete objects by the delete rules of the model", details: Command.changes
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
