package import TrellisModel
public import TrellisRuntime
import TrellisStorage

extension PersistentContainer {
  /// Tells what differs in the store between two moments, object by object.
  ///
  /// ```swift
  /// try container.differences(since: yesterday) { difference in
  ///   for property in difference.properties { print(difference.id, property.name, property.former, property.latter) }
  /// }
  /// ```
  /// The objects are those that the history lists between the moments, each once. After writes that the history does not
  /// list, all objects are compared. Of entities whose values are not kept, only the names of properties are told.
  ///
  /// - Parameters:
  ///   - start: The earlier moment.
  ///   - end: The later moment; nil for the present.
  ///   - comparesAll: Whether all objects are compared in any case, as after writes of other programs to a server.
  ///   - body: Called for each object that differs, by entities in the order of the model and by keys. The values are read
  ///     some hundred objects at a time.
  /// - Throws: ``StoreError``: `historyExpired`, `otherHistory`, `unsupported`; what `body` throws.
  /// - Complexity: linear in the number of changes between the moments, or of all objects.
  public func differences(
    since start: HistoryToken, until end: HistoryToken? = nil, comparingAll comparesAll: Bool = false,
    _ body: (ObjectDifference) throws -> Void
  ) throws {
    try differences(since: start, until: end, of: nil, comparingAll: comparesAll, body)
  }

  /// - Parameter entity: The entity whose objects are compared, with its subentities; nil for all.
  package func differences(
    since start: HistoryToken, until end: HistoryToken?, of entity: Entity?, comparingAll comparesAll: Bool,
    _ body: (ObjectDifference) throws -> Void
  ) throws {
    let end = try end ?? historyToken()
    let comparison = MomentComparison(
      before: MomentView(try newContext(asOf: start)), after: MomentView(try newContext(asOf: end)))
    var changes = try StoreChanges(of: self, since: start, until: end)
    if comparesAll || changes.isUnknown {
      for view in [comparison.before, comparison.after] { try changes.addAll(view, of: entity) }
    }
    try changes.forEachPiece(of: entity) { piece in
      let kept = piece.filter { model.history(of: $0.entity) == .values }
      let entities = Dictionary(kept.map { ($0.key, $0.entity) }) { first, _ in first }
      try comparison.before.load(entities)
      try comparison.after.load(entities)
      for object in piece {
        if entities[object.key] != nil {
          if let difference = try comparison.difference(object.key, of: object.entity) { try body(difference) }
        } else if let kind = object.change.kind {
          let names = model.entities[object.entity].properties.map(\.name).filter(object.change.properties.contains)
          try body(
            ObjectDifference(
              id: AnyObjectID(object.key, entity: object.entity, in: comparison.after.context), kind: kind,
              properties: names.map { ObjectDifference.PropertyDifference(name: $0, former: nil, latter: nil) }))
        }
      }
      comparison.before.forget()
      comparison.after.forget()
    }
  }
}

/// The objects that the history lists between two moments.
private struct StoreChanges {
  /// What transactions did to an object, one after the other.
  struct Change {
    var isInserted = false
    var isDeleted = false
    var properties: Set<String> = []

    /// Nil if the object is there at neither moment.
    var kind: ObjectDifference.Kind? {
      if isInserted && isDeleted { return nil }
      return isInserted ? .inserted : isDeleted ? .deleted : .updated
    }
  }

  struct Object {
    let key: Int64
    let entity: Int
    let change: Change
  }

  /// Whether there are changes that are not listed.
  private(set) var isUnknown = false
  private let model: Model
  private var entities: [Int64: Int] = [:]
  private var changes: [Int64: Change] = [:]

  private static let objectsAtATime = 500

  init(of container: PersistentContainer, since start: HistoryToken, until end: HistoryToken) throws {
    model = container.model
    try container.forEachTransaction(since: start, until: end) { add($0) }
  }

  private mutating func add(_ save: HistoryTransaction) {
    if save.hasUnknownChanges { isUnknown = true }
    for change in save.changes {
      guard let entity = model.entity(named: change.id.entity)?.index else { continue }
      let key = change.id.key
      entities[key] = entity
      switch change {
      case .inserted:
        // An object that an undo has brought back was there before.
        if changes[key]?.isDeleted == true {
          changes[key]?.isDeleted = false
        } else {
          changes[key, default: Change()].isInserted = true
        }
      case .updated(_, let names): changes[key, default: Change()].properties.formUnion(names)
      case .deleted: changes[key, default: Change()].isDeleted = true
      }
    }
  }

  /// Adds all objects of one moment.
  mutating func addAll(_ view: MomentView, of entity: Entity?) throws {
    let roots = Set(entity.map { [$0.root] } ?? model.roots)
    for root in roots where model.history(of: root) == .values {
      let request = StoreRequest(
        entity: root, includesSubentities: true, predicate: nil, sort: [], limit: nil, offset: 0)
      for key in try view.context.keys(of: request) where entities[key] == nil { entities[key] = root }
    }
  }

  /// Calls a closure with some hundred objects at a time.
  func forEachPiece(of entity: Entity?, _ body: ([Object]) throws -> Void) throws {
    let shown = entity.map { Set($0.subtree) }
    let all = entities.filter { _, number in
      // Of an object that no transaction lists, only the root is known.
      shown?.contains(number) ?? true || entity?.root == number
    }
    let sorted = all.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    for start in stride(from: 0, to: sorted.count, by: Self.objectsAtATime) {
      try body(
        sorted[start..<min(start + Self.objectsAtATime, sorted.count)].map {
          Object(key: $0.key, entity: $0.value, change: changes[$0.key] ?? Change())
        })
    }
  }
}

extension PersistentContainer {
  /// What differs of one object between two moments; nil if nothing does.
  ///
  /// - Throws: ``StoreError``, as for differences of the whole store.
  package func difference(
    of key: Int64, _ entity: Entity, since start: HistoryToken, until end: HistoryToken
  ) throws -> ObjectDifference? {
    try MomentComparison(
      before: MomentView(newContext(asOf: start)), after: MomentView(newContext(asOf: end))
    ).difference(key, of: entity.index)
  }

  /// Calls a closure with each transaction between two moments, the oldest first.
  ///
  /// - Parameters:
  ///   - start: The earlier moment; nil for the begin of what is kept.
  ///   - end: The later moment; nil for the present.
  /// - Throws: ``StoreError``: `historyExpired`, `otherHistory`, `unsupported`; what `body` throws.
  package func forEachTransaction(
    since start: HistoryToken?, until end: HistoryToken?, _ body: (HistoryTransaction) throws -> Void
  ) throws {
    var seen = start
    while case let saves = try history(since: seen, limit: 500), let last = saves.last, last.token != seen {
      for save in saves {
        if let end, save.token.transaction > end.transaction { return }
        try body(save)
      }
      seen = last.token
    }
  }
}
