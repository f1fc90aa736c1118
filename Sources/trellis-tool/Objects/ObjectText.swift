import TrellisDynamic
import TrellisModel
import TrellisRuntime

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
    case let error as ValidationError:
      let count = ObjectText.count(error.failures.count, "rule") + (error.failures.count == 1 ? " is" : " are")
      self.init(
        .failure,
        error.failures.map { "error: \($0)\n" }.joined() + "error: \(count) broken, so nothing was written.")
    case let error as ContextError: self.init(.failure, "error: \(error)")
    default: self.init(store: error, path)
    }
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
