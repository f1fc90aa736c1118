import TrellisSchema

/// The contents of a store at one point in time, as a value: a reader's copy is its snapshot.
package struct MemoryState: Sendable {
  /// The rows by key, for each root entity. Empty for the other entities.
  package private(set) var tables: [OrderedMap<Int64, MemoryRow>]
  /// The rows by owner, for each reference of the layout.
  package private(set) var references: [LinkIndex]
  /// The rows by hash, for each unique key of the layout.
  package private(set) var values: [LinkIndex]
  /// The rows in the order of each declared index.
  private(set) var ordered: [OrderedMap<IndexEntry, Void>]
  /// The pairs of each join table, from the first end's key to the partner's, and back.
  package private(set) var forward: [LinkIndex]
  package private(set) var backward: [LinkIndex]

  package init(_ layout: Layout) {
    tables = layout.model.entities.map { _ in OrderedMap() }
    references = layout.references.map { _ in LinkIndex() }
    values = layout.valueIndexes.map { _ in LinkIndex() }
    ordered = layout.orderedIndexes.map { _ in OrderedMap() }
    forward = layout.model.joinTables.map { _ in LinkIndex() }
    backward = forward
  }

  package func row(_ root: Int, _ key: Int64) -> MemoryRow? { tables[root][key] }

  // MARK: Changes

  /// Replaces a row and updates the indexes. Either row may be nil.
  package mutating func replace(_ old: MemoryRow?, by new: MemoryRow?, _ layout: Layout) {
    guard let row = new ?? old else { return }
    let root = layout.model.entities[row.entity].root
    if let new { tables[root].set(new.key, new) } else { tables[root].remove(row.key) }
    for reference in layout.referencesOf[row.entity] { replaceReference(reference, old, new) }
    for index in layout.valueIndexesOf[row.entity] { replaceHash(index, old, new) }
    for index in layout.orderedIndexesOf[row.entity] { replaceEntry(index, old, new) }
  }

  private mutating func replaceReference(_ reference: Layout.Reference, _ old: MemoryRow?, _ new: MemoryRow?) {
    let before = old?.reference(reference.column)
    let after = new?.reference(reference.column)
    let oldPlace = reference.orderColumn.flatMap { old?.reference($0) }
    let newPlace = reference.orderColumn.flatMap { new?.reference($0) }
    guard before != after || oldPlace != newPlace else { return }
    if let old, let before, before != after { references[reference.index].remove(before, old.key) }
    if let new, let after { references[reference.index].set(after, new.key, place: newPlace) }
  }

  private mutating func replaceHash(_ index: Layout.ValueIndex, _ old: MemoryRow?, _ new: MemoryRow?) {
    let before = old.flatMap(index.hash)
    let after = new.flatMap(index.hash)
    guard before != after else { return }
    if let old, let before { values[index.index].remove(before, old.key) }
    if let new, let after { values[index.index].set(after, new.key) }
  }

  private mutating func replaceEntry(_ index: Layout.OrderedIndex, _ old: MemoryRow?, _ new: MemoryRow?) {
    let before = old.map(index.shape.entry)
    let after = new.map(index.shape.entry)
    guard before != after else { return }
    if let before { ordered[index.index].remove(before) }
    if let after { ordered[index.index].set(after, ()) }
  }

  package mutating func setPair(_ table: Int, first: Int64, partner: Int64, place: Int64?, inversePlace: Int64?) {
    forward[table].set(first, partner, place: place)
    backward[table].set(partner, first, place: inversePlace)
  }

  mutating func removePair(_ table: Int, first: Int64, partner: Int64) {
    forward[table].remove(first, partner)
    backward[table].remove(partner, first)
  }
}

extension Layout.ValueIndex {
  /// The hash of a row's values. Nil if one of them is null, because a unique key with null does not apply.
  package func hash(_ row: MemoryRow) -> Int64? {
    hash(of: columns.map(row.value))
  }

  /// The hash of values, in the order of the columns.
  func hash(of values: [StoredValue]) -> Int64? {
    guard !values.contains(where: \.isNull) else { return nil }
    return Int64(truncatingIfNeeded: values.hashValue)
  }

  /// Whether two rows have the same values.
  package func areSame(_ a: MemoryRow, _ b: MemoryRow) -> Bool {
    columns.allSatisfy { a.value($0) == b.value($0) }
  }
}

/// A state in a box, so that the objects of a query share it by a single reference.
package final class Snapshot: Sendable {
  package let state: MemoryState
  package let layout: Layout

  package init(_ state: MemoryState, _ layout: Layout) {
    self.state = state
    self.layout = layout
  }
}
