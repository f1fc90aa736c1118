import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// What has changed at a server between the moment that a replica knows and a later one, of what the replica gets.
struct ChangedObjects {
  /// The changed properties of each object; nil for all.
  private(set) var properties: [Int64: (entity: Int, names: Set<String>?)] = [:]
  private(set) var gone: Set<Int64> = []
  /// Objects that are there, and have left the scope.
  private(set) var left: Set<Int64> = []
  /// The objects of the scope at the later moment; nil without a scope.
  private(set) var inScope: ScopeContents?
  /// What the replica itself has changed.
  private var own: Set<Int64> = []
  private let request: PullRequest
  private let container: PersistentContainer
  /// The store at the later moment.
  private let view: MomentView
  private let model: Model

  /// - Parameter view: The store at the later moment.
  /// - Returns: nil if it is not known what has changed, or what was in the scope.
  static func read(
    for request: PullRequest, until now: HistoryToken, in container: PersistentContainer, _ view: MomentView,
    _ scope: ResolvedScope?
  ) throws -> ChangedObjects? {
    guard let start = HistoryToken(request.since) else { throw SyncError.refused("a moment is invalid") }
    var changes = ChangedObjects(request: request, container: container, view: view, model: container.model)
    guard try changes.collect(from: start, until: now) else { return nil }
    try changes.addWanted()
    do {
      if let scope { try changes.restrict(to: scope, from: start) }
      return changes
    } catch let error as StoreError where error.code == .historyExpired {
      return nil
    }
  }

  /// - Returns: false if it is not known what has changed: the history does not reach back, or a migration has changed
  ///   objects without a list of them.
  private mutating func collect(from start: HistoryToken, until now: HistoryToken) throws -> Bool {
    var isKnown = true
    var previous = try container.keptTransaction(start)
    do {
      try container.forEachTransaction(since: start, until: now) { save in
        // A replica whose own model has changed asks for everything, and others do not have what a migration adds.
        if !save.isComplete && !save.isOfMigration(after: previous) { isKnown = false }
        if isKnown { collect(save) }
        previous = save
      }
    } catch let error as StoreError where error.code == .historyExpired {
      return false
    } catch let error as StoreError where error.code == .otherHistory {
      throw SyncError.otherServer
    }
    return isKnown
  }

  private mutating func collect(_ save: HistoryTransaction) {
    if save.author?.hasPrefix("\(SyncServer.author)\(request.replica) ") == true {
      own.formUnion(save.changes.map(\.id.key))
    }
    for change in save.changes {
      guard let entity = model.entity(named: change.id.entity)?.index else { continue }
      let key = change.id.key
      switch change {
      case .inserted:
        gone.remove(key)
        properties[key] = (entity, nil)
      case .updated(_, let names):
        if let known = properties[key] {
          properties[key] = (known.entity, known.names?.union(names))
        } else {
          properties[key] = (entity, Set(names))
        }
      case .deleted:
        properties[key] = nil
        gone.insert(key)
      }
    }
  }

  /// Adds the objects that the replica wants in any case, with what refers to them.
  private mutating func addWanted() throws {
    let found = try view.objects(request.also)
    for key in request.also {
      guard let object = found[key] else {
        properties[key] = nil
        gone.insert(key)
        continue
      }
      let entity = view.entity(of: object)
      properties[key] = (entity.index, nil)
      gone.remove(key)
      try addHolders(of: object)
    }
  }

  /// Adds what refers to an object that is sent as a whole.
  private mutating func addHolders(of object: ManagedObject) throws {
    let key = object._key
    let entity = view.entity(of: object)
    for reference in model.referencesWithoutInverse(to: entity.index) {
      for holder in try view.holders(of: key, reference) { addProperty(reference.entity, reference.property, holder) }
    }
    for case let relationship? in entity.properties.map(\.relationship) {
      guard let inverse = model.inverse(of: relationship),
        relationship.home == .inverseColumn || relationship.joinTable != nil && inverse.isOrdered
      else { continue }
      for partner in try view.partners(of: object, relationship) {
        addProperty(inverse.entity, inverse.index, partner)
      }
    }
  }

  /// Leaves out what is not in the scope, and adds what has entered and left it.
  private mutating func restrict(to scope: ResolvedScope, from start: HistoryToken) throws {
    if properties.isEmpty && gone.isEmpty && request.also.isEmpty { return }
    let contents = try scope.contents(in: view.context)
    inScope = contents
    // The replica has what was in the scope then, what it has changed itself, and what it says.
    let former = try scope.contents(in: container.newContext(asOf: start))
    let known = own.union(request.also).union(former.roots.keys)
    let entered = contents.roots.filter { !former.contains($0.key) }
    try view.load(entered)
    for (key, root) in entered.sorted(by: { $0.key < $1.key }) {
      guard let object = try view.object(key, of: root) else { continue }
      properties[key] = (root, nil)
      try addHolders(of: object)
    }
    properties = properties.filter { contents.contains($0.key) }
    gone.formIntersection(known)
    left = known.filter { !contents.contains($0) && !gone.contains($0) }
  }

  private mutating func addProperty(_ entity: Int, _ property: Int, _ key: Int64) {
    let name = model.entities[entity].properties[property].name
    if let known = properties[key] {
      properties[key] = (known.entity, known.names.map { $0.union([name]) })
    } else {
      properties[key] = (entity, [name])
    }
  }
}
