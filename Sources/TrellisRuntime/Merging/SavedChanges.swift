import TrellisSchema
import TrellisStorage

/// What one save changed: identities by entity, and the properties that have other values.
///
/// ```swift
/// for await changes in container.saves {
///   for id in changes.inserted(of: Tag.self) { index.add(id) }
/// }
/// ```
public struct SavedChanges: Sendable {
  private let notice: SaveNotice
  private let runtime: RuntimeModel

  init(_ notice: SaveNotice, _ runtime: RuntimeModel) {
    self.notice = notice
    self.runtime = runtime
  }

  /// What the context that saved calls itself: its ``ManagedObjectContext/author``.
  public var author: String? { notice.author }

  /// Whether this says what changed. It does for every save of the container; of what other programs, or other containers,
  /// wrote to the same file it is known only that they did, and nothing is listed.
  public var isComplete: Bool { !notice.isUnknown }

  /// The new objects.
  public var inserted: [AnyObjectID] { notice.inserted.map(id) }

  /// The objects with other values or other members.
  public var updated: [AnyObjectID] { (notice.updated + notice.relinked).map(id) }

  /// The objects that were deleted. Those that the store took along in a cascade without the context loading them are not
  /// named here, but ``contains(deleted:)`` knows them.
  public var deleted: [AnyObjectID] { notice.deleted.map(id) }

  /// The new objects of a class and of those below it.
  public func inserted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.inserted) }

  /// The objects of a class and of those below it that have other values or other members.
  public func updated<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] {
    ids(notice.updated) + ids(notice.relinked)
  }

  /// The deleted objects of a class and of those below it, as ``deleted``.
  public func deleted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.deleted) }

  /// Whether an object was deleted, by the context or by the store in a cascade.
  ///
  /// - Complexity: linear in the number of deleted objects.
  public func contains<Object: ManagedObject>(deleted id: ObjectID<Object>) -> Bool {
    guard runtime.has(Object.self) || Object.self == ManagedObject.self else { return false }
    return notice.deleted.contains { $0.key == id.key } || notice.cascaded.contains(id.key)
  }

  /// The names of the properties of an object that have other values or other members, in the model's order; none for one
  /// that did not change, or is new.
  ///
  /// - Complexity: linear in the number of updated objects.
  public func changedProperties(of id: AnyObjectID) -> [String] {
    guard runtime.has(id.type),
      let row = (notice.updated + notice.relinked).first(where: { $0.key == id.key })
    else { return [] }
    return runtime.entities[row.entity].entity.properties.filter { row.properties.contains($0.index) }.map(\.name)
  }

  private func id(_ row: SaveNotice.Row) -> AnyObjectID {
    AnyObjectID(row.key, runtime.entities[row.entity])
  }

  private func ids<Object: ManagedObject>(_ rows: [SaveNotice.Row]) -> [ObjectID<Object>] {
    rows.filter { runtime.types[$0.entity] is Object.Type }.map { ObjectID($0.key) }
  }
}

extension PersistentContainer {
  /// What is saved from now on, by whichever context of this container, and word of what others write to the same file.
  ///
  /// Each use makes a stream of its own; ask for it before what it is to tell of. It ends when its task is cancelled, and
  /// when the container is closed. Saves wait in it until they are taken, so that none is missed; what keeps a stream takes
  /// its elements, or lets go of it.
  ///
  /// Saves of one context come in their order. Saves of different contexts may come in another order than they were made in;
  /// who needs the present values fetches them.
  public var saves: AsyncStream<SavedChanges> {
    let (stream, continuation) = AsyncStream.makeStream(of: SavedChanges.self)
    let core = core
    let number = core.hub.add(
      { [runtime = core.runtime] in continuation.yield(SavedChanges($0, runtime)) }, end: { continuation.finish() })
    let watch = core.externalChanges.watch()
    continuation.onTermination = { _ in
      core.hub.removeListener(number)
      watch.end()
    }
    return stream
  }
}
