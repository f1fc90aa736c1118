import TrellisStorage

extension ManagedObject {
  /// The object's context; nil if the context was deinitialized or the object is detached from it.
  public final var managedObjectContext: ManagedObjectContext? {
    phase == .detached ? nil : link.context
  }

  /// Whether the object was created in this context and never saved.
  public final var isInserted: Bool { phase == .inserted }

  /// Whether the object was saved before and has changes that the next save will write.
  public final var isUpdated: Bool { phase == .persistent && hasChanges }

  /// Whether the object is deleted: with a pending delete, a saved one, or by another context. A new object that is
  /// deleted before its first save counts as deleted as well, although there is nothing to save.
  ///
  /// Objects that were detached from their context without a delete do not count as deleted: objects of an insert that
  /// was rolled back, and those of a context that was reset. They have no ``managedObjectContext``.
  public final var isDeleted: Bool { phase == .deleted || accessFlags.contains(.deleted) }

  /// Whether the object's values are not loaded yet. Reading a value loads them.
  public final var isFault: Bool { accessFlags.contains(.fault) }

  /// Whether the object has changes to save: it is inserted or deleted, a stored value differs from the last fetched or
  /// saved one, or the members of a to-many relationship changed.
  ///
  /// - Complexity: linear in the number of properties for an object with written values, otherwise constant.
  public final var hasChanges: Bool {
    switch phase {
    case .inserted, .deleted: true
    case .detached: false
    case .persistent: !changedNumbers.isEmpty || hasChangedLists
    }
  }

  /// The names of the properties that differ from the last fetched or saved state. Empty for a new object.
  ///
  /// - Complexity: linear in the number of properties.
  public final var changedProperties: [String] {
    guard let context = link.context, phase == .persistent else { return [] }
    let info = context.info(of: self)
    var numbers = changedNumbers
    for entry in extras?.lists ?? [] where entry.list.hasChanges { numbers.append(entry.property) }
    return numbers.sorted().map { info.entity.properties[$0].name }
  }

  final var hasChangedLists: Bool {
    guard let extras else { return false }
    return extras.lists.contains { $0.list.hasChanges }
  }
}

extension ManagedObject: Hashable {
  /// Objects are equal if they are the same instance: a context has one instance for each identifier.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  /// Hashes the identity of the instance.
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A protocol that gives each class its own type of identifier.
public protocol IdentifiedObject: ManagedObject {}

extension ManagedObject: IdentifiedObject {}

extension IdentifiedObject {
  /// The object's identifier.
  public var objectID: ObjectID<Self> { ObjectID(_key) }
}
