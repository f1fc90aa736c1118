import TrellisStorage

extension ManagedObject {
  /// The context that the object belongs to; nil when the context is gone or has let go of the object.
  public final var managedObjectContext: ManagedObjectContext? {
    phase == .detached ? nil : link.context
  }

  /// Whether the object was made in this context and never saved.
  public final var isInserted: Bool { phase == .inserted }

  /// Whether the object was saved before and has changes that the next save will write.
  public final var isUpdated: Bool { phase == .persistent && hasChanges }

  /// Whether the object is deleted: pending, already saved so, or by somebody else. A new object that is deleted before it
  /// was ever saved is deleted, too, although there is nothing for a save to do.
  ///
  /// Objects that their context let go of alive are not: those whose insertion was rolled back, and those of a context that
  /// was reset. They have no ``managedObjectContext``.
  public final var isDeleted: Bool { phase == .deleted || accessFlags.contains(.deleted) }

  /// Whether the object's values are not loaded yet. Reading one loads them.
  public final var isFault: Bool { accessFlags.contains(.fault) }

  /// Whether the object has anything to save: it is inserted or deleted, a stored value differs from what was last fetched
  /// or saved, or a to-many has other members.
  ///
  /// - Complexity: linear in the number of properties for an object that was written to, else constant.
  public final var hasChanges: Bool {
    switch phase {
    case .inserted, .deleted: true
    case .detached: false
    case .persistent: !changedNumbers.isEmpty || hasChangedLists
    }
  }

  /// The names of the properties that differ from what was last fetched or saved. Empty for a new object.
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
  /// Objects are equal when they are the same object: there is one for each identity in a context.
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What gives each class its own type of identity.
public protocol IdentifiedObject: ManagedObject {}

extension ManagedObject: IdentifiedObject {}

extension IdentifiedObject {
  /// The object's identity.
  public var objectID: ObjectID<Self> { ObjectID(_key) }
}
