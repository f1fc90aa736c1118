import TrellisDynamic
import TrellisModel
import TrellisRuntime

/// The unsaved changes of a context for people: what is inserted, changed and deleted.
///
/// A link of two objects is told once, at the object that comes first.
struct ChangeReport {
  /// What happens to one object.
  private struct Entry {
    enum Action: String {
      case inserts, changes, deletes
    }

    let action: Action
    let object: String
    var properties: [(name: String, text: String)] = []
  }

  /// A link that comes or goes, the same from both ends.
  private struct Link: Hashable {
    let entity: Int
    let property: Int
    let first: Int64
    let second: Int64
    let isComing: Bool
  }

  private let draft: ManagedObjectContext
  /// Shows the objects as they were.
  private let base: ManagedObjectContext
  /// Whether the keys of new objects are final.
  private let namesInserted: Bool
  private var told: Set<Link> = []
  private var entries: [Entry] = []

  private static let mostLetters = 60
  private static let mostNames = 10

  /// - Parameters:
  ///   - subjects: The objects that the command names, which come first.
  ///   - namesInserted: Whether the keys of new objects are final.
  init(
    _ draft: ManagedObjectContext, since base: ManagedObjectContext, subjects: [DynamicObject], namesInserted: Bool
  ) throws {
    self.draft = draft
    self.base = base
    self.namesInserted = namesInserted
    for case let object as DynamicObject in draft.insertedObjects { try add(inserted: object) }
    let changed = draft.updatedObjects.compactMap { $0 as? DynamicObject }.sorted { $0.key < $1.key }
    for object in changed where subjects.contains(object) { try add(updated: object) }
    for object in changed where !subjects.contains(object) { try add(updated: object) }
    let deleted = draft.deletedObjects.compactMap { $0 as? DynamicObject }.sorted { $0.key < $1.key }
    for object in deleted { entries.append(Entry(action: .deletes, object: ObjectText.name(object))) }
  }

  // MARK: Output

  var isEmpty: Bool { entries.isEmpty }

  /// A line for each object, and below it one for each property.
  var text: String {
    entries.map { entry in
      "\(entry.action) \(entry.object)\n" + TextTable(entry.properties.map { ["", $0.name, $0.text] }).text
    }.joined()
  }

  /// A list with one object for each object that is changed.
  var json: String {
    JSONText.list(
      entries.map { entry in
        let properties = entry.properties.map { (key: $0.name, value: JSONText.quoted($0.text)) }
        return JSONText.object([
          ("action", JSONText.quoted(entry.action.rawValue)), ("object", JSONText.quoted(entry.object)),
          ("properties", JSONText.object(properties)),
        ])
      })
  }

  // MARK: Objects

  private mutating func add(inserted object: DynamicObject) throws {
    var entry = Entry(action: .inserts, object: namesInserted ? "\(object)" : "an object of \(object.entityName)")
    for property in try object.ownEntity().properties where !property.isTransient {
      if let relationship = property.relationship {
        for key in try keys(of: relationship, object) { _ = tell(relationship, object, key, isComing: true) }
      }
      let line = try line(property, of: object)
      if line != "nil" && line != "0 members" { entry.properties.append((property.name, line)) }
    }
    entries.append(entry)
  }

  private mutating func add(updated object: DynamicObject) throws {
    let former = try base.object(object.name)
    var entry = Entry(action: .changes, object: ObjectText.name(former))
    let changed = Set(object.changedProperties)
    for property in try object.ownEntity().properties {
      // A to-one that the partner's row stores is no changed property of this object.
      let isElsewhere = property.relationship.map { !$0.isToMany && !$0.isTransient && $0.column == nil } ?? false
      guard changed.contains(property.name) || isElsewhere, let line = try change(of: property, former, object) else {
        continue
      }
      entry.properties.append((property.name, line))
    }
    if !entry.properties.isEmpty { entries.append(entry) }
  }

  // MARK: Properties

  private func line(_ property: Property, of object: DynamicObject) throws -> String {
    try ObjectText.line(property, of: object, length: Self.mostLetters, names: Self.mostNames)
  }

  /// - Returns: nil if it was told at other objects.
  private mutating func change(
    of property: Property, _ former: DynamicObject, _ object: DynamicObject
  ) throws -> String? {
    guard let relationship = property.relationship else {
      return "\(try line(property, of: former)) → \(try line(property, of: object))"
    }
    let (old, new) = (try keys(of: relationship, former), try keys(of: relationship, object))
    let (oldKeys, newKeys) = (Set(old), Set(new))
    if relationship.isToMany && oldKeys == newKeys {
      return old == new || !relationship.isOrdered
        ? nil : "in the order " + (try object.members(relationship.name).map { "\($0)" }).listed
    }
    let going = old.filter { !newKeys.contains($0) && tell(relationship, object, $0, isComing: false) }
    let coming = new.filter { !oldKeys.contains($0) && tell(relationship, object, $0, isComing: true) }
    guard relationship.isToMany else {
      let isTold = going.isEmpty && coming.isEmpty
      return isTold ? nil : "\(try line(property, of: former)) → \(try line(property, of: object))"
    }
    // A member that is deleted is told at the end.
    let gone = Set(draft.deletedObjects.map { AnyObjectID($0).key })
    let parts =
      try going.filter { !gone.contains($0) }.map { "- " + (try name($0, relationship, base)) }
      + coming.map { "+ " + (try name($0, relationship, draft)) }
    return parts.isEmpty ? nil : parts.listed
  }

  private func name(_ key: Int64, _ relationship: Relationship, _ context: ManagedObjectContext) throws -> String {
    ObjectText.name(try context.object(ObjectName(relationship.description.destination, key)))
  }

  private func keys(of relationship: Relationship, _ object: DynamicObject) throws -> [Int64] {
    if relationship.isToMany { return try object.memberKeys(relationship.name) }
    let key = try object.partnerKey(relationship.name)
    return key == 0 ? [] : [key]
  }

  /// - Returns: whether the link was not told before.
  private mutating func tell(
    _ relationship: Relationship, _ object: DynamicObject, _ partner: Int64, isComing: Bool
  ) -> Bool {
    var end = relationship
    var keys = (object.key, partner)
    if let inverse = draft.model.inverse(of: relationship) {
      let isSecond = (inverse.entity, inverse.index) < (relationship.entity, relationship.index)
      if isSecond { (end, keys) = (inverse, (partner, object.key)) }
      if relationship.isOwnInverse && keys.0 > keys.1 { keys = (keys.1, keys.0) }
    }
    return told.insert(
      Link(entity: end.entity, property: end.index, first: keys.0, second: keys.1, isComing: isComing)
    ).inserted
  }
}

extension [String] {
  fileprivate var listed: String { joined(separator: ", ") }
}
