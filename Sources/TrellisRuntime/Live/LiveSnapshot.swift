/// Live results at one moment.
///
/// Live results change by themselves, so a view that keeps them for a comparison has lost what it has shown, and a position
/// in them may be past their end. A snapshot keeps its identifiers and their order. Its objects are those of the context:
/// their values are the present ones. One that was deleted since says so in ``ManagedObject/isDeleted``; its values are readable
/// as long as something holds it, and placeholders otherwise.
///
/// ```swift
/// let shown = live.snapshot
/// try context.delete(shown[0])
/// try context.save()
/// print(shown.count - live.count)  // 1
/// ```
public struct LiveSnapshot<Columns: EntityColumns>: RandomAccessCollection {
  private let rows: LiveRows
  private let offset: Int
  private let entity: Int
  private let context: ManagedObjectContext

  init(_ rows: LiveRows, offset: Int, entity: Int, _ context: ManagedObjectContext) {
    self.rows = rows
    self.offset = offset
    self.entity = entity
    self.context = context
  }

  /// The position of the first object, 0.
  public var startIndex: Int { 0 }

  /// The number of results.
  public var endIndex: Int { Swift.max(0, rows.count - offset) }

  /// The object at a position, which must be valid, as for every Swift collection. It is loaded as one of
  /// ``LiveResults`` is.
  public subscript(position: Int) -> Columns.Object {
    rows.object(at: offset + position, entity: entity, context.graph)
  }

  /// The identifier of the object at a position, which must be valid. Nothing is loaded.
  public func id(at position: Int) -> ObjectID<Columns.Object> { ObjectID(rows.key(at: offset + position)) }

  /// The identifiers of some results, in order. Nothing is loaded.
  ///
  /// - Parameter positions: Their positions, which must be valid.
  public func ids(_ positions: Range<Int>) -> [ObjectID<Columns.Object>] {
    rows.keys((offset + positions.lowerBound)..<(offset + positions.upperBound)).map { ObjectID($0) }
  }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveSnapshot: @unchecked Sendable {}

extension LiveSnapshot: CustomStringConvertible {
  /// The number of the results, and their class.
  public var description: String { "\(count) \(Columns.Object.self)" }
}

extension LiveRows {
  /// The object at a position. One that is not in memory is loaded, together with those that follow it.
  func object<Object: ManagedObject>(at place: Int, entity: Int, _ graph: ObjectGraph) -> Object {
    let key = key(at: place)
    if let known = graph.map[key] as? Object { return known }
    let keys = keys(place..<min(place + 256, count)).filter { graph.map[$0] == nil }
    var isGone = true
    do {
      try graph.loadObjects(keys, entity: entity)
    } catch {
      isGone = false
      let name = graph.runtime.info(entity).name
      graph.report(ContextError(.loadFailed, "Objects of \(name) could not be loaded.", cause: error))
    }
    if let loaded = graph.map[key] as? Object { return loaded }
    return .standIn(for: key, isDeleted: isGone, in: graph.link)
  }
}
