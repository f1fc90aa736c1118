public import Trellis

/// What a list shows: the objects of a request at one moment, in sections if the request has any, with what a list needs to
/// know beside them.
///
/// It is a value. While it is shown, it stays as it is, so a view can compare it with the next one, and no position of it is
/// ever past its end. Its objects are those of the context, with their present values. One that was deleted since says so in
/// `isDeleted`; its values are readable as long as something holds it, and placeholders otherwise.
///
/// ```swift
/// for section in entries.sections {
///   print(section.value, section.map(\.content))
/// }
/// ```
/// A ``LiveListController`` makes it.
public struct LiveList<Columns: EntityColumns, SectionValue: Hashable & Sendable>: RandomAccessCollection {
  /// The objects; nil if none could be fetched yet.
  private let objects: LiveSnapshot<Columns>?
  /// The position after the last object.
  public let endIndex: Int
  /// The sections, in their order, with the objects that are shown; empty for a list without sections.
  public let sections: [LiveListSection<Columns, SectionValue>]
  /// Whether the store has more objects than the list was asked to show. ``LiveListController/loadMore()`` shows more.
  public let hasMore: Bool
  /// The failure of the request that was last asked for. The list shows what it has shown before; it is nil as soon as a
  /// request succeeds.
  public let error: (any Error)?
  /// What has changed in the list since it was last seen; see ``LiveListController/markSeen()``.
  public let news: LiveListNews<Columns.Object>

  /// An empty list.
  init(error: (any Error)? = nil) {
    objects = nil
    endIndex = 0
    sections = []
    hasMore = false
    news = LiveListNews()
    self.error = error
  }

  /// - Parameters:
  ///   - objects: The objects, with one more than `limit` if there are more.
  ///   - sections: The sections of all these objects.
  ///   - limit: The largest number of objects that are shown; nil for all.
  init(
    _ objects: LiveSnapshot<Columns>, _ sections: [LiveSection<Columns, SectionValue>], limit: Int?,
    news: LiveListNews<Columns.Object>, error: (any Error)?
  ) {
    self.objects = objects
    self.news = news
    self.error = error
    let count = Swift.min(objects.count, limit ?? .max)
    endIndex = count
    hasMore = objects.count > count
    var known: [SectionValue: Int] = [:]
    self.sections = sections.prefix { $0.positions.lowerBound < count }.map { section in
      let occurrence = known[section.value, default: 0]
      known[section.value] = occurrence + 1
      return LiveListSection(
        id: LiveListSection.ID(value: section.value, occurrence: occurrence),
        positions: section.positions.clamped(to: 0..<count), objects: objects)
    }
  }

  /// The position of the first object, 0.
  public var startIndex: Int { 0 }

  /// The object at a position, which must be valid, as for every Swift collection. It is loaded, together with those that
  /// follow it, if it is not in memory.
  public subscript(position: Int) -> Columns.Object {
    guard let objects else { preconditionFailure("An empty list has no position \(position).") }
    return objects[position]
  }

  /// The identifiers of the objects, in order. Nothing is loaded: a list of many objects is shown by them, and each row finds
  /// its own object.
  ///
  /// - Complexity: linear in the number of objects.
  public var ids: [ObjectID<Columns.Object>] { objects?.ids(0..<endIndex) ?? [] }
}

@available(*, unavailable, message: "a list belongs to its context; pass ids or snapshots instead")
extension LiveList: @unchecked Sendable {}

/// The objects of a list with the same value of what its sections are made by.
public struct LiveListSection<Columns: EntityColumns, SectionValue: Hashable & Sendable>: RandomAccessCollection,
  Identifiable
{
  /// The identity of a section among those of its list: its value. Values that Swift holds for equal, such as composed and
  /// decomposed Hangul, and the store does not, have an identity each.
  public struct ID: Hashable {
    /// The value of the section.
    public let value: SectionValue
    /// The number of sections before it with an equal value.
    let occurrence: Int
  }

  /// The identity of the section, which stays the same as long as the section is there.
  public let id: ID
  /// The positions of the section in the list.
  public let positions: Range<Int>
  let objects: LiveSnapshot<Columns>

  /// The value that its objects share: a title, a letter, a month.
  public var value: SectionValue { id.value }
  /// The position of the section's first object in the list.
  public var startIndex: Int { positions.lowerBound }
  /// The position after the section's last object in the list.
  public var endIndex: Int { positions.upperBound }
  /// The object at a position in the list.
  public subscript(position: Int) -> Columns.Object { objects[position] }
  /// The identifiers of the section's objects, in order. Nothing is loaded.
  public var ids: [ObjectID<Columns.Object>] { objects.ids(positions) }
}

extension LiveListSection.ID: Sendable {}

@available(*, unavailable, message: "a list belongs to its context; pass ids or snapshots instead")
extension LiveListSection: @unchecked Sendable {}

/// What has changed in a list since it was last seen, by the objects' identifiers.
///
/// In a list that shows a part of its objects, those beyond count only once they move up into it.
public struct LiveListNews<Object: ManagedObject>: Hashable, Sendable {
  /// The objects that have come into the list.
  public private(set) var inserted: Set<ObjectID<Object>> = []
  /// The objects that were in the list, and have other values or members now.
  public private(set) var updated: Set<ObjectID<Object>> = []
  /// The objects that have left the list.
  public private(set) var removed: Set<ObjectID<Object>> = []

  /// Whether nothing has changed.
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && removed.isEmpty }

  /// - Parameter limit: The number of objects that are shown; nil for all.
  mutating func add(_ steps: [LiveStep<Object>], below limit: Int?) {
    let end = limit ?? .max
    for step in steps {
      switch step {
      case .insert(let id, let place) where place < end:
        if removed.remove(id) == nil { inserted.insert(id) } else { updated.insert(id) }
      case .delete(let id, let place):
        updated.remove(id)
        if inserted.remove(id) == nil && place < end { removed.insert(id) }
      case .update(let id, let place) where place < end: if !inserted.contains(id) { updated.insert(id) }
      case .insert, .update, .move: break
      }
    }
  }
}

extension LiveList: CustomStringConvertible {
  /// The number of the objects that are shown, and their class: `20 EmotionDiary, and more`.
  public var description: String { "\(count) \(Columns.Object.self)" + (hasMore ? ", and more" : "") }
}
