import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisSync
import TrellisTimeTravel

/// Objects and their values as people read them.
enum ObjectText {
  /// An object with a text by which people know it: `Tag#3 "sea"`.
  static func name(_ object: DynamicObject) -> String {
    object.label().map { "\(object) \"\($0)\"" } ?? "\(object)"
  }

  /// The name of a to-one's partner; nil if there is none. A reference to an object that is gone has the destination's
  /// name.
  static func partnerName(of object: DynamicObject, _ relationship: Relationship) throws -> String? {
    if let partner = try object.partner(relationship.name) { return "\(partner)" }
    let key = try object.partnerKey(relationship.name)
    return key == 0 ? nil : "\(relationship.description.destination)#\(key)"
  }

  /// A property in one line.
  ///
  /// - Parameters:
  ///   - length: the maximum number of scalars of a value.
  ///   - names: the maximum number of members that are named.
  static func line(_ property: Property, of object: DynamicObject, length: Int, names: Int) throws -> String {
    switch property {
    case .attribute(let attribute):
      return ValueText(attribute).shortText(try object.value(attribute.name), length: length)
    case .relationship(let relationship):
      guard relationship.isToMany else {
        if let partner = try object.partner(relationship.name) { return name(partner) }
        return try partnerName(of: object, relationship).map { "\($0), which does not exist" } ?? "nil"
      }
      let keys = try object.memberKeys(relationship.name)
      if keys.isEmpty || names == 0 { return count(keys.count, "member") }
      // The members that are not named are not loaded.
      let shown = Array(keys.prefix(names))
      let found = try object.managedObjectContext?.objects(shown, entity: relationship.destination) ?? [:]
      let list = shown.compactMap { (found[$0] as? DynamicObject).map(name) }
      return count(keys.count, "member") + ": " + list.joined(separator: ", ") + (keys.count > names ? ", …" : "")
    }
  }

  static func count(_ count: Int, _ word: String) -> String { "\(count) \(word)\(count == 1 ? "" : "s")" }
}

extension ObjectName {
  /// The name of an object among the arguments.
  static func read(_ text: String, of command: ToolCommand) throws(ToolFailure) -> ObjectName {
    if let name = ObjectName(text) { return name }
    throw .usage("\(text.inMessage) is no name of an object, as Entity#7 is.", of: command)
  }
}

extension Property {
  /// Whether the property is in memory only.
  var isTransient: Bool {
    switch self {
    case .attribute(let attribute): attribute.column == nil && attribute.description.derivation == nil
    case .relationship(let relationship): relationship.isTransient
    }
  }
}

extension ToolFailure {
  /// The failure of an operation on objects.
  init(objects error: any Error, _ path: String) {
    switch error {
    case let error as DynamicError: self.init(.failure, "error: \(error.message)")
    case let error as PredicateFormatError: self.init(.failure, "error: \(error)")
    case let error as ValidationError: self.init(broken: error.failures.map { "\($0)" })
    case let error as BrokenRules: self.init(broken: error.rules)
    case let error as ContextError: self.init(.failure, "error: \(error)")
    case let error as UndoRefusal:
      let conflicts = error.conflicts.map { "error: \($0)\n" }.joined()
      self.init(.failure, conflicts + "error: Nothing was undone.")
    case let error as RestoreError: self.init(.failure, "error: \(error)")
    case let error as SyncError: self.init(error.code == .unreachable ? .unavailable : .failure, "error: \(error)")
    default: self.init(store: error, path)
    }
  }

  private init(broken rules: [String]) {
    let count = ObjectText.count(rules.count, "rule") + (rules.count == 1 ? " is" : " are")
    self.init(
      .failure, rules.map { "error: \($0)\n" }.joined() + "error: \(count) broken, so nothing was written.")
  }

  /// Runs an operation on objects.
  static func catching<Result>(_ path: String, _ body: () throws -> Result) throws(ToolFailure) -> Result {
    do {
      return try body()
    } catch {
      throw ToolFailure(objects: error, path)
    }
  }
}
