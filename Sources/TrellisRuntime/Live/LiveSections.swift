public import Observation
import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Live results in sections, each of which groups the objects with the same value of an attribute.
///
/// ```swift
/// let live = try context.live(EmotionDiary.all.sorted { $0.createdAt }, sectionedBy: { $0.emotion })
/// for section in live.sections { print(section.value, section.map(\.content)) }
/// ```
public final class LiveSections<Columns: EntityColumns, Value: AttributeValue>: Observable {
  /// All results, one section after the other.
  public let results: LiveResults<Columns>

  init(_ results: LiveResults<Columns>) { self.results = results }

  /// The sections, in the order of their values.
  ///
  /// - Complexity: linear in the number of results.
  public var sections: [LiveSection<Columns, Value>] {
    let count = results.count
    let values = results.core.sectionValues
    guard values.count == count else { return [] }
    let row = ProjectedRow()
    return SectionRuns.ranges(values).map { range in
      row.values = [values[range.lowerBound]]
      return LiveSection(value: Value.read(row, 0), positions: range, results: results)
    }
  }

  /// The changes from now on, with positions in all results; ``LiveChange/sections`` contains those of the sections.
  public var changes: LiveChanges<Columns> { results.changes }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveSections: @unchecked Sendable {}

/// The results with the same value of the section attribute.
public struct LiveSection<Columns: EntityColumns, Value: AttributeValue>: RandomAccessCollection {
  /// The common value.
  public let value: Value
  /// The positions of the section among all results.
  public let positions: Range<Int>
  let results: LiveResults<Columns>

  /// The position of the section's first object among all results.
  public var startIndex: Int { positions.lowerBound }
  /// The position after the section's last object among all results.
  public var endIndex: Int { positions.upperBound }
  /// The object at a position among all results.
  public subscript(position: Int) -> Columns.Object { results[position] }
}

extension ManagedObjectContext {
  /// The results of a request in sections, kept up to date with saves.
  ///
  /// - Parameter section: the attribute with the values of the sections. It precedes the request's own sort keys,
  ///   ascending. For the reverse order of sections, make it the request's first sort key, descending.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns, Value: SortableAttributeValue>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> AttributePath<Value>
  ) throws -> LiveSections<Columns, Value> {
    try prepareFetch()
    let key = section(Columns(PropertyPath(variable: 0))).ascending.key
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.sort.first?.path != key.path { storeRequest.sort.insert(key, at: 0) }
    return LiveSections(try LiveResults(storeRequest, isSectioned: true, self))
  }
}
