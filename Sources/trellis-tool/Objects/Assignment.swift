import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A value for a property among the arguments: `name=value`, `tags+=Tag#1,Tag#2`, `tags-=Tag#3`.
struct Assignment {
  enum Operation {
    case set, add, remove
  }

  let name: String
  let operation: Operation
  let text: String

  /// - Throws: ``ToolFailure`` if the argument has no `=`, or nothing before it.
  init(_ argument: String, of command: ToolCommand) throws(ToolFailure) {
    guard let sign = argument.firstIndex(of: "=") else {
      throw .usage("\(argument.inMessage) is no assignment, as name=value is.", of: command)
    }
    text = String(argument[argument.index(after: sign)...])
    var name = argument[..<sign]
    switch name.last {
    case "+": operation = .add
    case "-": operation = .remove
    default: operation = .set
    }
    if operation != .set { name.removeLast() }
    guard !name.isEmpty else { throw .usage("\(argument.inMessage) has no name before its sign.", of: command) }
    self.name = String(name)
  }

  /// The assignments of a command, of which each property has one for each operation.
  static func all(_ arguments: some Sequence<String>, of command: ToolCommand) throws(ToolFailure) -> [Assignment] {
    var found: [Assignment] = []
    for argument in arguments {
      let assignment = try Assignment(argument, of: command)
      if found.contains(where: { $0.name == assignment.name && $0.operation == assignment.operation }) {
        throw .usage("\(assignment.name.inMessage) is given twice.", of: command)
      }
      found.append(assignment)
    }
    return found
  }
}

/// The assignments to one object, read by the types of its properties.
struct Assignments {
  private(set) var values: [String: StoredValue] = [:]
  private var links: [(relationship: Relationship, operation: Assignment.Operation, partners: [DynamicObject])] = []

  /// - Throws: ``ToolFailure`` with each assignment that cannot be read; ``StoreError`` if the store fails.
  init(_ assignments: [Assignment], to entity: Entity, in context: ManagedObjectContext) throws {
    var problems: [String] = []
    for assignment in assignments {
      do {
        try add(assignment, entity, context)
      } catch let error as DynamicError {
        problems.append(error.message)
      }
    }
    if !problems.isEmpty { throw ToolFailure(.failure, problems.map { "error: \($0)\n" }.joined()) }
  }

  private mutating func add(_ assignment: Assignment, _ entity: Entity, _ context: ManagedObjectContext) throws {
    switch try entity.needProperty(assignment.name) {
    case .attribute(let attribute):
      guard assignment.operation == .set else {
        throw DynamicError(
          .otherKind, entity.name, attribute.name,
          "\(entity.name).\(attribute.name) is one value: only relationships to many have += and -=.")
      }
      do throws(ValueMisfit) {
        values[attribute.name] = try ValueText(attribute).value(assignment.text)
      } catch {
        throw DynamicError(
          .wrongValue, entity.name, attribute.name, "\(entity.name).\(attribute.name) must be \(error.expected).")
      }
    case .relationship(let relationship):
      let names = try Self.names(assignment, relationship, entity)
      guard relationship.isToMany || assignment.operation == .set && names.count <= 1 else {
        throw DynamicError(
          .otherKind, entity.name, relationship.name,
          "\(entity.name).\(relationship.name) leads to one object, as in \(relationship.name)="
            + "\(relationship.description.destination)#1, or to nil.")
      }
      links.append((relationship, assignment.operation, try names.map { try context.object($0) }))
    }
  }

  private static func names(
    _ assignment: Assignment, _ relationship: Relationship, _ entity: Entity
  ) throws(DynamicError) -> [ObjectName] {
    if assignment.text.isEmpty || assignment.text == "nil" { return [] }
    var names: [ObjectName] = []
    for part in assignment.text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let name = ObjectName(String(part.drop { $0 == " " })) else {
        throw DynamicError(
          .wrongPartner, entity.name, relationship.name,
          "\(entity.name).\(relationship.name) must be names of objects, such as "
            + "\(relationship.description.destination)#1\(relationship.isToMany ? ",… " : ", ")or nil.")
      }
      names.append(name)
    }
    return names
  }

  /// Sets everything that was not given to the insert of the object.
  func apply(to object: DynamicObject, isNew: Bool) throws {
    if !isNew { for (name, value) in values.sorted(by: { $0.key < $1.key }) { try object.set(name, value) } }
    for (relationship, operation, partners) in links {
      switch operation {
      case .set where relationship.isToMany: try object.set(relationship.name, partners)
      case .set: try object.set(relationship.name, partners.first)
      case .add: for partner in partners { try object.add(partner, to: relationship.name) }
      case .remove: for partner in partners { try object.remove(partner, from: relationship.name) }
      }
    }
  }
}
