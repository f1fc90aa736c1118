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

  init(_ name: String, _ operation: Operation, _ text: String) {
    self.name = name
    self.operation = operation
    self.text = text
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
  private let entity: Entity
  /// Objects that have no name yet, by the words that stand for them; nil where no words do.
  private let newObjects: [String: DynamicObject]?
  private(set) var values: [String: StoredValue] = [:]
  private var links: [(relationship: Relationship, operation: Assignment.Operation, partners: [DynamicObject])] = []

  /// - Throws: ``ToolFailure`` with each assignment that cannot be read; ``StoreError`` if the store fails.
  init(
    _ assignments: [Assignment], to entity: Entity, newObjects: [String: DynamicObject]? = nil,
    in context: ManagedObjectContext
  ) throws {
    self.entity = entity
    self.newObjects = newObjects
    var problems: [String] = []
    for assignment in assignments {
      do {
        try add(assignment, context)
      } catch let error as DynamicError {
        problems.append(error.message)
      }
    }
    if !problems.isEmpty { throw ToolFailure(.failure, problems.map { "error: \($0)\n" }.joined()) }
  }

  private mutating func add(_ assignment: Assignment, _ context: ManagedObjectContext) throws {
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
      let partners = try partners(assignment, relationship, context)
      guard relationship.isToMany || assignment.operation == .set && partners.count <= 1 else {
        throw DynamicError(
          .otherKind, entity.name, relationship.name,
          "\(entity.name).\(relationship.name) leads to one object, as in \(relationship.name)="
            + "\(relationship.description.destination)#1, or to nil.")
      }
      links.append((relationship, assignment.operation, partners))
    }
  }

  private func partners(
    _ assignment: Assignment, _ relationship: Relationship, _ context: ManagedObjectContext
  ) throws -> [DynamicObject] {
    if assignment.text.isEmpty || assignment.text == "nil" { return [] }
    let words = assignment.text.split(separator: ",", omittingEmptySubsequences: false).map {
      String($0.drop { $0 == " " })
    }
    let named = try words.filter { newObjects?[$0] == nil }.map { word throws(DynamicError) in
      guard let name = ObjectName(word) else {
        if newObjects != nil, word.hasPrefix("@") {
          throw DynamicError(
            .wrongPartner, entity.name, relationship.name,
            "\(entity.name).\(relationship.name): \(Self.unknown(word)).")
        }
        throw DynamicError(
          .wrongPartner, entity.name, relationship.name,
          "\(entity.name).\(relationship.name) must be names of objects, such as "
            + "\(relationship.description.destination)#1\(relationship.isToMany ? ",… " : ", ")or nil.")
      }
      return (word: word, name: name)
    }
    var objects = newObjects ?? [:]
    // Those of an entity are loaded together.
    for (entity, group) in Dictionary(grouping: named, by: \.name.entity) {
      let loaded = try context.objects(group.map(\.name.key), entity: context.model.needEntity(entity).index)
      for (word, name) in group { objects[word] = try loaded[name.key] as? DynamicObject ?? context.object(name) }
    }
    return words.compactMap { objects[$0] }
  }

  /// The reason why a word stands for no new object.
  static func unknown(_ word: String) -> String {
    "\(word.inMessage) is no new object: no insert before this change has it as its 'as'"
  }

  /// Inserts an object with the values and partners.
  ///
  /// - Throws: ``ToolFailure`` with each value that is missing or wrong; ``StoreError`` if the store fails.
  func insert(into context: ManagedObjectContext) throws -> DynamicObject {
    let problems = try context.insertProblems(entity, values)
    guard problems.isEmpty else {
      throw ToolFailure(.failure, problems.map { "error: \($0.message)\n" }.joined())
    }
    let object = try context.insert(entity.name, values)
    try apply(to: object, isNew: true)
    return object
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
