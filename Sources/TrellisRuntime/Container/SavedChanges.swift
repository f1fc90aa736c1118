import TrellisModel
import TrellisStorage

/// The changes of one save: the IDs of the changed objects by entity, and their changed properties.
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

  /// The ``ManagedObjectContext/author`` of the context that saved.
  public var author: String? { notice.author }

  /// Whether the changes are known. They are for every save of the container, and for those of other processes and
  /// containers if the model has `"history": true`. Of other writes to the same file only the fact is known, and nothing
  /// is listed.
  public var isComplete: Bool { !notice.isUnknown }

  /// The inserted objects.
  public var inserted: [AnyObjectID] { notice.inserted.map(id) }

  /// The objects with changed values or changed members.
  public var updated: [AnyObjectID] { (notice.updated + notice.relinked).map(id) }

  /// The deleted objects. Objects that the store deleted in a cascade without the context loading them are not listed;
  /// use ``contains(deleted:)`` for these.
  public var deleted: [AnyObjectID] { notice.deleted.map(id) }

  /// The inserted objects of a class and its subclasses.
  public func inserted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.inserted) }

  /// The objects of a class and its subclasses with changed values or changed members.
  public func updated<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] {
    ids(notice.updated) + ids(notice.relinked)
  }

  /// The deleted objects of a class and its subclasses, with the same limits as ``deleted``.
  public func deleted<Object: ManagedObject>(of type: Object.Type) -> [ObjectID<Object>] { ids(notice.deleted) }

  /// Whether an object was deleted, by the context or by the store in a cascade.
  ///
  /// - Complexity: linear in the number of deleted objects.
  public func contains<Object: ManagedObject>(deleted id: ObjectID<Object>) -> Bool {
    guard runtime.has(Object.self) || Object.self == ManagedObject.self else { return false }
    return notice.deleted.contains { $0.key == id.key } || notice.cascaded.contains(id.key)
  }

  /// The names of an object's properties with changed values or changed members, in the order of the model; empty if
  /// the object did not change or is new.
  ///
  /// - Complexity: linear in the number of updated objects.
  public func changedProperties(of id: AnyObjectID) -> [String] {
    guard runtime.has(id.type),
      let row = (notice.updated + notice.relinked).first(where: { $0.key == id.key })
    else { return [] }
    return runtime.info(row.entity).entity.properties.filter { row.properties.contains($0.index) }.map(\.name)
  }

  private func id(_ row: SaveNotice.Row) -> AnyObjectID {
    AnyObjectID(row.key, runtime.info(row.entity))
  }

  private func ids<Object: ManagedObject>(_ rows: [SaveNotice.Row]) -> [ObjectID<Object>] {
    rows.filter { runtime.types[$0.entity] is Object.Type }.map { ObjectID($0.key) }
  }
}

extension SavedChanges: CustomStringConvertible {
  /// The author and the changed objects, or that the changes are unknown.
  public var description: String {
    let lists = [("inserted", inserted), ("updated", updated), ("deleted", deleted)].filter { !$0.1.isEmpty }
    let changes = lists.map { "\($0) \($1.map { "\($0)" }.joined(separator: ", "))" }.joined(separator: "; ")
    return "\(author.map { "\($0): " } ?? "")\(isComplete ? changes : "unknown changes")"
  }
}

extension PersistentContainer {
  /// The saves of all contexts of this container from now on, and notices of external writes to the same file.
  ///
  /// Each access creates a new stream, so access it before the first save of interest. The stream ends when its task is
  /// cancelled or the container is closed. Saves are buffered without a limit so that none is missed; consume or
  /// release a stream that you keep.
  ///
  /// Saves of one context arrive in order. Saves of different contexts may arrive in another order than they were made;
  /// fetch to get the current values.
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

/// Hears of saves until it is released.
package final class SaveListening: Sendable {
  private let hub: ChangeHub
  private let number: Int

  fileprivate init(_ hub: ChangeHub, _ number: Int) {
    self.hub = hub
    self.number = number
  }

  deinit { hub.removeListener(number) }
}

extension PersistentContainer {
  /// Hears of each save of this container's contexts that changes something. Unlike ``saves`` it does not look for writes of
  /// other processes, so nothing wakes the process while nothing happens.
  ///
  /// - Parameters:
  ///   - hear: called on the thread of the save, which waits for it, with the author of the save.
  ///   - end: called when the container is closed.
  package func listen(
    _ hear: @escaping @Sendable (_ author: String?) -> Void, end: @escaping @Sendable () -> Void
  ) -> SaveListening {
    let hub = core.hub
    return SaveListening(hub, hub.add({ if $0.isUnknown || $0.count > 0 { hear($0.author) } }, end: end))
  }
}
