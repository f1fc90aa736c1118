@_spi(Generated) import Trellis
import TrellisRuntime
import TrellisSchema

/// The graph under test: the same operations as the reference's, carried out by a context.
///
/// Relationships are reached as generated accessors reach them, by property number, so that one piece of code serves all.
final class LiveGraph {
  let container: PersistentContainer
  private(set) var context: ManagedObjectContext
  /// The context whose child, or whose child's child, is tested; nil when it has no parent.
  private let root: ManagedObjectContext?
  /// How many contexts lie between the tested one and the store.
  private let levels: Int
  /// Whether the test holds the objects that it has met; if not, the context may drop them.
  let holdsObjects: Bool
  /// Whether steps are recorded, to be undone.
  let undoes: Bool
  private let rules: Rules
  /// Whether cascades are left to the store wherever they can be.
  private let leavesToStore: Bool
  private var keys: [Int: Int64] = [:]
  private var objects: [Int64: Int] = [:]
  private var entities: [Int: String] = [:]
  private var held: [Int: ManagedObject] = [:]

  struct MissingObject: Error { let object: Int }

  init(
    _ container: PersistentContainer, _ rules: Rules, holdsObjects: Bool, undoes: Bool = false,
    leavesToStore: Bool = false, levels: Int = 0
  ) {
    self.levels = levels
    root = levels > 0 ? container.newContext() : nil
    self.container = container
    self.undoes = undoes
    self.rules = rules
    self.holdsObjects = holdsObjects
    self.leavesToStore = leavesToStore
    context = root ?? container.newContext()
    if leavesToStore { root?.fewMembers = 0 }
    makeContext()
    if leavesToStore { context.fewMembers = 0 }
  }

  // MARK: Objects

  func insert(_ entity: String, as number: Int) throws {
    let object = try EntityTable.access(entity).insert(context)
    keys[number] = object._key
    objects[object._key] = number
    entities[number] = entity
    if holdsObjects { held[number] = object }
  }

  func object(_ number: Int) throws -> ManagedObject {
    if let known = held[number] { return known }
    guard let found = try find(number) else { throw MissingObject(object: number) }
    if holdsObjects { held[number] = found }
    return found
  }

  func find(_ number: Int, in other: ManagedObjectContext? = nil) throws -> ManagedObject? {
    guard let key = keys[number], let entity = entities[number] else { return nil }
    return try EntityTable.access(entity).find(other ?? context, key)
  }

  /// The test's number of an object; negative for one that it never made.
  func number(of object: ManagedObject) -> Int { objects[object._key] ?? -1 }

  func number(ofKey key: Int64) -> Int { objects[key] ?? -1 }

  // MARK: Relationships

  func property(_ shape: Shape) -> Int { rules.properties[shape.index] }

  func reading(_ object: ManagedObject, _ shape: Shape) -> [Int] {
    guard shape.isToMany else {
      let partner: ManagedObject? = object._partner(property(shape))
      return partner.map { [number(of: $0)] } ?? []
    }
    let members = members(object, shape).map(number(of:))
    return shape.isOrdered ? members : members.sorted()
  }

  func members(_ object: ManagedObject, _ shape: Shape) -> OrderedToMany<ManagedObject> {
    OrderedToMany(object, property(shape))
  }

  // MARK: Steps

  /// Carries out an operation that has a counterpart in memory.
  func apply(_ operation: Operation) throws {
    switch operation {
    case .insert, .deleteAndUndelete, .undo, .redo: break
    case .set(let number, let shape, let partner):
      try object(number)._setPartner(property(shape), partner.map(object))
    case .append(let number, let shape, let partner):
      try members(object(number), shape).append(object(partner))
    case .insertAt(let number, let shape, let partner, let place):
      try members(object(number), shape).insert(object(partner), at: place)
    case .remove(let number, let shape, let partner):
      try members(object(number), shape).remove(object(partner))
    case .move(let number, let shape, let from, let to):
      try members(object(number), shape).move(from: from, to: to)
    case .replace(let number, let shape, let partners):
      try members(object(number), shape).replaceAll(with: partners.map(object))
    case .delete(let number): try context.delete(object(number))
    case .save: try save()
    case .rollback: context.rollback()
    case .reset: startAnew { context.reset() }
    case .newContext: startAnew(makeContext)
    case .refreshAll: context.refreshAll()
    case .refresh(let number): try context.refresh(object(number))
    case .discard(let number): try context.refresh(object(number), discardingChanges: true)
    case .dropUnused: context.dropUnusedObjects()
    case .fetch(let entity): _ = try EntityTable.access(entity).fetch(context)
    case .count(let number, let shape): _ = try members(object(number), shape).count
    case .contains(let number, let shape, let partner):
      _ = try members(object(number), shape).contains(object(partner))
    case .read(let number, let shape): _ = try reading(object(number), shape)
    }
  }

  private func makeContext() {
    if let root {
      context = (0..<levels).reduce(root) { parent, _ in parent.newChildContext() }
    } else {
      context = container.newContext()
    }
    if undoes { context.undo.enable(limit: .max) }
  }

  /// Saves up to the root, which holds what is saved from then on.
  func save() throws {
    try context.save()
    var parent = context.parent
    while let next = parent, next !== root {
      try next.save()
      parent = next.parent
    }
  }

  /// Contexts that hold what is saved, as the context's parent or a reader of the store.
  ///
  /// - Parameter isWritten: whether parents are saved, so that the store has it, too.
  func readers(isWritten: Bool) throws -> [ManagedObjectContext] {
    var readers: [ManagedObjectContext] = []
    while let parent = (readers.last ?? context).parent {
      readers.append(parent)
    }
    if isWritten { try root?.save() }
    if readers.isEmpty || isWritten { readers.append(container.newContext()) }
    return readers
  }

  private func startAnew(_ step: () -> Void) {
    held = [:]
    step()
    if leavesToStore { context.fewMembers = 0 }
  }
}
