public import Observation
import TrellisModel
@_spi(Generated) public import TrellisStorage

/// Live results in sections, each of which groups the objects with the same value: of an attribute, a computed value, the
/// period of a date, or the initial of a text.
///
/// ```swift
/// let live = try context.live(EmotionDiary.all.sorted { $0.createdAt }, sectionedBy: { $0.emotion })
/// for section in live.sections { print(section.value, section.map(\.content)) }
/// ```
public final class LiveSections<Columns: EntityColumns, Value>: Observable {
  /// All results, one section after the other.
  public let results: LiveResults<Columns>
  private let read: (RowReader) -> Value

  init(_ results: LiveResults<Columns>, _ read: @escaping (RowReader) -> Value) {
    self.results = results
    self.read = read
  }

  /// The sections as they are now, in the order of their values.
  ///
  /// - Complexity: linear in the number of results.
  public var sections: [LiveSection<Columns, Value>] { sections(of: results.snapshot) }

  /// - Parameter now: A present snapshot of the results.
  @_spi(UI) public func sections(of now: LiveSnapshot<Columns>) -> [LiveSection<Columns, Value>] {
    let values = results.core.sectionValues
    guard values.count == now.count else { return [] }
    let row = ProjectedRow()
    return SectionRuns.ranges(values).map { range in
      row.values = [values[range.lowerBound]]
      return LiveSection(value: read(row), positions: range, results: now)
    }
  }

  /// The changes from now on, with positions in all results; ``LiveChange/sections`` contains those of the sections.
  public var changes: LiveChanges<Columns> { results.changes }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveSections: @unchecked Sendable {}

/// The results with the same value of the section attribute, as they were when the section was read.
public struct LiveSection<Columns: EntityColumns, Value>: RandomAccessCollection {
  /// The common value.
  public let value: Value
  /// The positions of the section among all results.
  public let positions: Range<Int>
  let results: LiveSnapshot<Columns>

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
  /// - Parameter request: The request for the objects.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns, Value: SortableAttributeValue>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> AttributePath<Value>
  ) throws -> LiveSections<Columns, Value> {
    let section = section(Columns(PropertyPath(variable: 0)))
    return try live(request, section, section.ascending.key)
  }

  /// The results of a request in sections by a computed value, kept up to date with saves.
  ///
  /// ```swift
  /// let live = try context.live(Note.all, sectionedBy: { $0.createdAt.weekday() })
  /// ```
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - section: The value of the sections. It precedes the request's own sort keys, ascending, unless it is the first of
  ///     them.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns, Value: OrderedAttributeValue>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> ComputedValue<Value>
  ) throws -> LiveSections<Columns, Value.Unwrapped?> {
    let section = section(Columns(PropertyPath(variable: 0)))
    return try live(request, section, section.ascending.key)
  }

  /// The results of a request in sections by the period of a date, kept up to date with saves.
  ///
  /// ```swift
  /// let months = try context.live(Note.all.sorted { $0.createdAt.descending }, sectionedBy: { $0.createdAt.month() })
  /// for section in months.sections { print(section.value.start, section.count) }
  /// ```
  /// If the request sorts by the date first, in either direction, its order stays as it is, and an index on the date serves
  /// it. Otherwise the periods precede the request's own sort keys, ascending.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - section: The period of the sections.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns, Fetched>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> PeriodValue<Fetched>
  ) throws -> LiveSections<Columns, Fetched> {
    let section = section(Columns(PropertyPath(variable: 0)))
    return try live(request, section, section.ascending.key, section)
  }

  /// The results of a request in sections by the initials of a text, kept up to date with saves: an index of names.
  ///
  /// ```swift
  /// let korean = Locale(identifier: "ko")
  /// let contacts = try context.live(Contact.all, sectionedBy: { $0.name.initial(in: korean) })
  /// for section in contacts.sections { print(section.value ?? "-", section.map(\.name)) }  // ㄱ, ㄴ, …, A, …
  /// ```
  /// The objects are in the order of the language. If that is not the request's first sort key, it precedes the others.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - section: The initial of the sections.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> InitialValue
  ) throws -> LiveSections<Columns, String?> {
    let section = section(Columns(PropertyPath(variable: 0)))
    try graph.prepareFetch()
    var storeRequest = try request.storeRequest(in: graph)
    let first = storeRequest.sort.first
    if first?.value != section.text || first?.language != section.language {
      storeRequest.sort.insert(SortKey(section.text, kind: .text, language: section.language), at: 0)
    }
    let isDescending = storeRequest.sort.first?.isDescending ?? false
    let labels = InitialLabels(section.language, isDescending: isDescending)
    return LiveSections(try LiveResults(storeRequest, .byFirstText(labels), self)) { String?.read($0, 0) }
  }

  private func live<Columns: EntityColumns, Token: ValueToken>(
    _ request: FetchRequest<Columns>, _ section: Token, _ key: SortKey, _ period: PeriodValue<Token.Fetched>? = nil
  ) throws -> LiveSections<Columns, Token.Fetched> {
    try graph.prepareFetch()
    var storeRequest = try request.storeRequest(in: graph)
    var sectioning = Sectioning.byFirstValue
    if let period, storeRequest.sort.first?.value == period.date {
      sectioning = .byFirstDate(DateLookup.of(try StoreError.evaluating { try period.function.settled() }))
    } else if storeRequest.sort.first?.value != key.value {
      storeRequest.sort.insert(key, at: 0)
    }
    return LiveSections(try LiveResults(storeRequest, sectioning, self)) { section._read($0, 0) }
  }
}

// MARK: - Sectioning

/// How the sections of live results follow from their first sort values.
enum Sectioning {
  case none
  case byFirstValue
  /// The first sort values are dates, and the sections are their periods.
  case byFirstDate(DateLookup)
  /// The first sort values are texts in the order of a language, and the sections are their initials.
  case byFirstText(InitialLabels)

  var isSectioned: Bool { if case .none = self { false } else { true } }

  /// The section of each result.
  ///
  /// - Complexity: linear.
  func values(_ firstValues: ArraySlice<StoredValue>) -> [StoredValue] {
    switch self {
    case .none: []
    case .byFirstValue: Array(firstValues)
    case .byFirstText(let labels): labels.values(firstValues)
    case .byFirstDate(let lookup): firstValues.map { lookup.value(of: $0) }
    }
  }
}

// MARK: - Section runs

/// Runs of adjacent results with the same section value.
enum SectionRuns {
  /// The positions of each section.
  static func ranges(_ values: [StoredValue]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start = 0
    for place in values.indices where place + 1 == values.count || values[place + 1] != values[place] {
      found.append(start..<(place + 1))
      start = place + 1
    }
    return found
  }

  /// The steps between two lists of sections. Sections are sorted by their values, so none of them moves.
  static func steps(from old: [StoredValue], to new: [StoredValue]) -> [LiveSectionStep] {
    let before = ranges(old).map { old[$0.lowerBound] }
    let after = ranges(new).map { new[$0.lowerBound] }
    let kept = Set(before).intersection(after)
    var steps: [LiveSectionStep] = []
    for (place, value) in before.enumerated().reversed() where !kept.contains(value) {
      steps.append(.delete(at: place))
    }
    for (place, value) in after.enumerated() where !kept.contains(value) { steps.append(.insert(at: place)) }
    return steps
  }
}
