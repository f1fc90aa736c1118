import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime

/// The changes of one call, which are saved together or not at all.
struct RequestedChanges {
  private enum Step {
    /// - Parameter word: What stands for the new object in later changes; nil for nothing.
    case insert(String, word: String?, JSONValue)
    case set(Subject, JSONValue)
    case delete(Subject)
  }

  private enum Subject {
    case stored(ObjectName, version: Int)
    /// A new object, by the word that stands for it. Nothing else can have changed it.
    case new(String)
  }

  private let steps: [Step]

  /// The greatest number of changes in one call.
  static let mostSteps = 500

  /// - Throws: ``ToolFailure`` for a change that is none.
  init(_ value: JSONValue?) throws(ToolFailure) {
    guard let list = value?.list, !list.isEmpty, list.count <= Self.mostSteps else {
      throw ToolArguments.wrong("'changes' must be a list of 1 to \(Self.mostSteps) changes.")
    }
    var steps: [Step] = []
    for (place, value) in list.enumerated() { steps.append(try Self.step(value, "changes[\(place)]")) }
    self.steps = steps
  }

  private static func step(_ value: JSONValue, _ place: String) throws(ToolFailure) -> Step {
    guard case .object(let members) = value else {
      throw ToolArguments.wrong("\(place) must be an object with insert, set or delete, and not \(value.kind).")
    }
    let forms = [
      ("insert", ["insert", "as", "values"], ["insert"]),
      ("set", ["set", "version", "values"], ["set", "values"]),
      ("delete", ["delete", "version"], ["delete"]),
    ]
    guard let form = forms.first(where: { form in members.contains { $0.key == form.0 } }) else {
      throw ToolArguments.wrong("\(place) has neither 'insert' nor 'set' nor 'delete'.")
    }
    let arguments = try ToolArguments(members, in: place, names: form.1, required: form.2)
    let values = arguments["values"] ?? .object([])
    guard values.isObject else {
      throw ToolArguments.wrong("\(place).values must be an object, and not \(values.kind).")
    }
    if form.0 == "insert" {
      let word = try arguments.text("as")
      guard word?.hasPrefix("@") ?? true, word?.contains(",") != true else {
        throw ToolArguments.wrong("\(place).as must begin with @, as @trip does, and have no comma.")
      }
      return .insert(try arguments.needText("insert"), word: word, values)
    }
    let subject = try subject(of: form.0, arguments, place)
    return form.0 == "set" ? .set(subject, values) : .delete(subject)
  }

  private static func subject(
    of form: String, _ arguments: ToolArguments, _ place: String
  ) throws(ToolFailure) -> Subject {
    let name = try arguments.needText(form)
    if name.hasPrefix("@") { return .new(name) }
    let object = try arguments.objectName(form)
    guard let version = try arguments.number("version", in: 1...Int.max) else {
      throw ToolArguments.wrong("\(place) needs 'version'.")
    }
    return .stored(object, version: version)
  }

  // MARK: Application

  /// Makes the changes in a context.
  ///
  /// - Parameter base: Has the objects as they are stored, with their versions.
  /// - Returns: The objects that are named.
  /// - Throws: ``OutdatedObject`` if one was changed since it was read; ``ToolFailure`` and ``DynamicError`` for names and values;
  ///   ``ValidationError`` for a delete that a rule refuses; ``StoreError`` if the store fails.
  func apply(to context: ManagedObjectContext, since base: ManagedObjectContext) throws -> [DynamicObject] {
    var newObjects: [String: DynamicObject] = [:]
    var subjects: [DynamicObject] = []
    for step in steps {
      switch step {
      case .insert(let name, let word, let values):
        let entity = try context.model.needEntity(name)
        let given = try Assignments(
          Assignment.all(values, to: entity), to: entity, newObjects: newObjects, in: context)
        let object = try given.insert(into: context)
        subjects.append(object)
        if let word, newObjects.updateValue(object, forKey: word) != nil {
          throw ToolArguments.wrong("\(word.inMessage) stands for two new objects.")
        }
      case .set(let subject, let values):
        let object = try Self.object(subject, newObjects, base, context)
        let entity = try object.ownEntity()
        try Assignments(Assignment.all(values, to: entity), to: entity, newObjects: newObjects, in: context)
          .apply(to: object, isNew: false)
        subjects.append(object)
      case .delete(let subject):
        // A former delete of the list may have taken it along.
        if case .stored(let name, _) = subject, subjects.contains(where: { $0.isDeleted && $0.name == name }) {
          continue
        }
        let object = try Self.object(subject, newObjects, base, context)
        try context.delete(object)
        subjects.append(object)
      }
    }
    return subjects
  }

  private static func object(
    _ subject: Subject, _ newObjects: [String: DynamicObject], _ base: ManagedObjectContext,
    _ context: ManagedObjectContext
  ) throws -> DynamicObject {
    switch subject {
    case .stored(let name, let version):
      let stored = try base.object(name)
      guard stored.storedVersion == Int64(version) else {
        throw OutdatedObject(name: stored.name, read: version, present: stored.storedVersion)
      }
      return try context.object(name)
    case .new(let word):
      guard let object = newObjects[word] else { throw ToolArguments.wrong("\(Assignments.unknown(word)).") }
      guard object.managedObjectContext != nil, !object.isDeleted else {
        throw ToolArguments.wrong("\(word.inMessage) is deleted by a change before.")
      }
      return object
    }
  }
}

/// An object that was changed since a client has read it.
struct OutdatedObject: Error {
  let name: ObjectName
  let read: Int
  let present: Int64
}

extension Assignment {
  /// The assignments of an object such as `{"mood": "calm", "tags": {"add": ["Tag#1"]}}`.
  ///
  /// - Throws: ``DynamicError`` for a name that the entity does not have; ``ToolFailure`` with every value that cannot be read.
  fileprivate static func all(_ values: JSONValue, to entity: Entity) throws -> [Assignment] {
    guard case .object(let members) = values else { return [] }
    var assignments: [Assignment] = []
    var problems: [String] = []
    for (name, value) in members {
      let found: [Assignment]?
      let expected: String
      switch try entity.needProperty(name) {
      case .attribute(let attribute):
        found = try text(value, of: attribute).map { [Assignment(name, .set, $0)] }
        expected = attribute.isOptional ? "\(attribute.expectation), or null" : attribute.expectation
      case .relationship(let relationship):
        found = links(value, name, isToMany: relationship.isToMany)
        let destination = relationship.description.destination
        expected =
          relationship.isToMany
          ? "a list such as [\"\(destination)#1\"], or {\"add\": [\"\(destination)#1\"], \"remove\": []}"
          : "the name of an object, such as \(destination)#1, or null"
      }
      if let found {
        assignments += found
      } else {
        problems.append("error: \(entity.name).\(name) must be \(expected).\n")
      }
    }
    if !problems.isEmpty { throw ToolFailure(.failure, problems.joined()) }
    return assignments
  }

  /// The text of a JSON value, as a command line has it; nil for a value of another type than the attribute's.
  private static func text(_ value: JSONValue, of attribute: Attribute) throws -> String? {
    switch (value, attribute.type) {
    case (.null, _): return attribute.isOptional ? "nil" : nil
    case (.string(let text), .string): return try ValueText(attribute).text(.text(text))
    // These words would stand for no value.
    case (.string("nil"), _), (.string(""), .date), (.string(""), .uuid), (.string(""), .decimal), (.string(""), .url):
      return nil
    case (.string(let text), .enumeration):
      let isCase = attribute.enumeration?.cases.contains { $0.name == text } ?? false
      return isCase ? text : "=" + text
    case (.string(let text), .date), (.string(let text), .uuid), (.string(let text), .decimal),
      (.string(let text), .url),
      (.string(let text), .data):
      return text
    case (.string("Infinity"), .float), (.string("Infinity"), .double): return "Infinity"
    case (.string("-Infinity"), .float), (.string("-Infinity"), .double): return "-Infinity"
    case (.number(let text), .integer), (.number(let text), .float), (.number(let text), .double),
      (.number(let text), .decimal):
      return text
    case (.number(let text), .enumeration): return "=" + text
    case (.bool(let flag), .bool): return "\(flag)"
    case (.list, .array), (_, .codable): return value.text
    default: return nil
    }
  }

  private static func links(_ value: JSONValue, _ name: String, isToMany: Bool) -> [Assignment]? {
    func names(_ value: JSONValue) -> String? {
      guard let list = value.list, case let texts = list.compactMap(\.string), texts.count == list.count,
        !texts.contains(where: { $0.isEmpty || $0.contains(",") || $0 == "nil" })
      else { return nil }
      return texts.isEmpty ? "nil" : texts.joined(separator: ",")
    }
    guard isToMany else {
      if value.isNull { return [Assignment(name, .set, "nil")] }
      return names(.list([value])).map { [Assignment(name, .set, $0)] }
    }
    guard case .object(let members) = value else { return names(value).map { [Assignment(name, .set, $0)] } }
    var found: [Assignment] = []
    for (key, value) in members {
      guard let operation = ["add": Operation.add, "remove": .remove][key], let names = names(value) else { return nil }
      found.append(Assignment(name, operation, names))
    }
    return found
  }
}
