@_spi(Generated) import Trellis
import TrellisModel
import TrellisRuntime

/// The graph under test: the same operations as the reference's, carried out by a context.
final class LiveGraph: GraphSide {
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
    if leavesToStore { root?.graph.fewMembers = 0 }
    root?.graph.stepsOfChain = leavesToStore ? 1 : 2
    makeContext()
    if leavesToStore { context.graph.fewMembers = 0 }
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

  // MARK: Steps

  /// Carries out an operation that has a counterpart in memory.
  func apply(_ operation: Operation) throws {
    if try link(operation) { return }
    switch operation {
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
    default: break
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
    if leavesToStore { context.graph.fewMembers = 0 }
  }
}
