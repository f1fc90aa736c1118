public import Observation
import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Live results in sections: those that are alike in one attribute stand together.
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

  /// The changes from now on, positions counted in all results; ``LiveChange/sections`` has those of the sections.
  public var changes: LiveChanges<Columns> { results.changes }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveSections: @unchecked Sendable {}

/// Results that are alike in what they are sectioned by.
public struct LiveSection<Columns: EntityColumns, Value: AttributeValue>: RandomAccessCollection {
  /// What they have in common.
  public let value: Value
  /// Where they are among all results.
  public let positions: Range<Int>
  let results: LiveResults<Columns>

  public var startIndex: Int { positions.lowerBound }
  public var endIndex: Int { positions.upperBound }
  public subscript(position: Int) -> Columns.Object { results[position] }
}

extension ManagedObjectContext {
  /// The results of a request in sections, kept up to date with what is saved.
  ///
  /// - Parameter section: the attribute whose values make the sections. It comes before the request's own sort keys,
  ///   ascending; to have the sections the other way round, make it the first sort key, descending.
  /// - Throws: as ``live(_:)``.
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
