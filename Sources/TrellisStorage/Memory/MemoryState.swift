package import TrellisModel

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

  /// Passes the rows of a join table, in the order of both keys, until the body returns false.
  package func forEachPair(of table: Int, _ body: (SaveRequest.Pairs.Pair) -> Bool) {
    let backward = backward[table]
    forward[table].links.forEach { link, place in
      body(
        SaveRequest.Pairs.Pair(
          first: link.from, partner: link.to, place: place, inversePlace: backward.place(link.to, link.from)))
    }
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

// MARK: - Memory row

/// A stored row. Rows are immutable: an update replaces the row, so snapshots share rows.
package final class MemoryRow: Sendable {
  package let key: Int64
  package let version: Int64
  package let entity: Int
  package let values: [StoredValue]

  package init(key: Int64, version: Int64, entity: Int, values: [StoredValue]) {
    self.key = key
    self.version = version
    self.entity = entity
    self.values = values
  }

  /// The value of a column. Null if the row does not have this column.
  package func value(_ column: Int) -> StoredValue {
    values.indices.contains(column) ? values[column] : .null
  }

  /// The key in a reference column. Nil if the column is null.
  package func reference(_ column: Int) -> Int64? {
    if case .integer(let key) = value(column) { key } else { nil }
  }
}

extension ValueReader {
  /// Makes the reader read this row.
  func show(_ row: MemoryRow) {
    show(key: row.key, version: row.version, entity: row.entity, values: row.values)
  }
}

// MARK: - Snapshot source

/// A store that has all of its rows in memory. It may have a file as well.
package protocol SnapshotSource: AnyObject, Sendable {
  var layout: Layout { get }
  /// A snapshot of the current state. Later saves do not change it.
  ///
  /// - Throws: ``StoreError`` if the store has to be opened again.
  func snapshot() throws -> Snapshot
  /// What the store notes besides its rows.
  func lineage() throws -> StoreLineage
  func save(_ request: SaveRequest) throws -> SaveOutcome
  /// Whether the rows were saved outside this store since the last call. The default implementation returns false.
  func takeExternalChanges() -> Bool
}

extension SnapshotSource {
  package func takeExternalChanges() -> Bool { false }
}

// MARK: - Layout

/// The layout that a store derives from its model once: the indexes, and the rows that belong to each.
package final class Layout: Sendable {
  /// A column with the keys of other rows, in the declaring entity and its subentities.
  package struct Reference: Sendable {
    package let index: Int
    package let entity: Int
    package let property: Int
    package let column: Int
    package let orderColumn: Int?
    /// The root entity of the referenced rows.
    package let targetRoot: Int
    /// Whether the target must exist, which is not so under the delete rule `noAction`.
    package let isChecked: Bool
  }

  /// A unique key. Its row is found by the hash of its values.
  package struct ValueIndex: Sendable {
    package let index: Int
    package let entity: Int
    package let columns: [Int]
  }

  /// A declared index with its rows in order.
  struct OrderedIndex: Sendable {
    let index: Int
    let entity: Int
    let shape: IndexShape
  }

  package let model: Model
  package let references: [Reference]
  package let valueIndexes: [ValueIndex]
  /// The references and unique keys of each entity, including inherited ones.
  package let referencesOf: [[Reference]]
  package let valueIndexesOf: [[ValueIndex]]
  let orderedIndexes: [OrderedIndex]
  let orderedIndexesOf: [[OrderedIndex]]
  /// The join tables whose first end or partner may be a row of the entity.
  package let firstEndsOf: [[Int]]
  package let partnerEndsOf: [[Int]]
  private let referenceNumbers: [RelationshipNumber: Int]

  package init(_ model: Model) {
    var lists = LayoutLists(model)
    for entity in model.entities { lists.addIndexes(of: entity) }
    self.model = model
    references = lists.references
    valueIndexes = lists.valueIndexes
    orderedIndexes = lists.orderedIndexes
    referenceNumbers = lists.referenceNumbers
    let families = model.entities.map { Set(Self.lineage($0.index, model)) }
    referencesOf = families.map { family in lists.references.filter { family.contains($0.entity) } }
    valueIndexesOf = families.map { family in lists.valueIndexes.filter { family.contains($0.entity) } }
    orderedIndexesOf = families.map { family in lists.orderedIndexes.filter { family.contains($0.entity) } }
    firstEndsOf = families.map { family in
      model.joinTables.filter { family.contains($0.first.entity) }.map(\.index)
    }
    partnerEndsOf = families.map { family in
      model.joinTables.filter { family.contains($0.partnerEntity) }.map(\.index)
    }
  }

  /// The reference of a to-one with a column, for any entity of the hierarchy.
  func reference(_ relationship: Relationship) -> Reference? {
    referenceNumbers[RelationshipNumber(entity: relationship.entity, property: relationship.index)].map {
      references[$0]
    }
  }

  /// The comparison kind of a column's values.
  static func kind(of column: Int, _ entity: Entity) -> ValueKind {
    let column = entity.columns[column]
    guard case .attribute(let number) = column.content, let attribute = entity.properties[number].attribute else {
      return ValueKind(column.storageClass)
    }
    return attribute.valueKind
  }

  private static func lineage(_ entity: Int, _ model: Model) -> [Int] {
    var line = [entity]
    while let parent = model.entities[line[line.count - 1]].parent { line.append(parent) }
    return line
  }
}

/// The references, unique keys and indexes of a model, while they are collected.
private struct LayoutLists {
  let model: Model
  var references: [Layout.Reference] = []
  var valueIndexes: [Layout.ValueIndex] = []
  var orderedIndexes: [Layout.OrderedIndex] = []
  var referenceNumbers: [RelationshipNumber: Int] = [:]

  init(_ model: Model) { self.model = model }

  mutating func addIndexes(of entity: Entity) {
    for property in entity.properties where declares(entity, property) {
      if let relationship = property.relationship, case .column(let column, let order) = relationship.home {
        addReference(relationship, column, order)
      }
    }
    for key in entity.uniqueKeys where key.entity == entity.index {
      add(entity.index, key.properties.compactMap { entity.properties[$0].column })
    }
    for index in entity.indexes { add(index, of: entity) }
  }

  private func declares(_ entity: Entity, _ property: Property) -> Bool {
    switch property {
    case .attribute(let attribute): attribute.entity == entity.index
    case .relationship(let relationship): relationship.entity == entity.index
    }
  }

  private mutating func addReference(_ relationship: Relationship, _ column: Int, _ order: Int?) {
    let inverse = model.inverse(of: relationship)
    let reference = Layout.Reference(
      index: references.count, entity: relationship.entity, property: relationship.index, column: column,
      orderColumn: order, targetRoot: model.entities[relationship.destination].root,
      isChecked: !relationship.isLeftAlone)
    referenceNumbers[RelationshipNumber(entity: relationship.entity, property: relationship.index)] = references.count
    references.append(reference)
    // In a one-to-one, no two rows may have the same reference.
    if let inverse, !inverse.isToMany { add(relationship.entity, [column]) }
  }

  private mutating func add(_ entity: Int, _ columns: [Int]) {
    let isKnown = valueIndexes.contains { $0.entity == entity && $0.columns == columns }
    guard !columns.isEmpty, !isKnown else { return }
    valueIndexes.append(Layout.ValueIndex(index: valueIndexes.count, entity: entity, columns: columns))
  }

  private mutating func add(_ index: Index, of entity: Entity) {
    let columns = index.elements.compactMap { entity.properties[$0.property].column }
    guard !columns.isEmpty, columns.count == index.elements.count else { return }
    let shape = IndexShape(
      columns: columns, kinds: columns.map { Layout.kind(of: $0, entity) },
      isDescending: index.elements.map(\.isDescending))
    orderedIndexes.append(Layout.OrderedIndex(index: orderedIndexes.count, entity: entity.index, shape: shape))
  }
}

// MARK: - Link index

/// Two numbers in lexicographic order: an owner's key or a hash, then the key of a row.
package struct Link: Comparable, Hashable, Sendable {
  package var from: Int64
  package var to: Int64

  package static func < (left: Link, right: Link) -> Bool {
    left.from != right.from ? left.from < right.from : left.to < right.to
  }
}

/// A map from one number to many rows: the children of an owner, the partners in a join table, the rows with a hash.
package struct LinkIndex: Sendable {
  /// The links with their positions. The position is nil in an unordered relationship.
  package private(set) var links = OrderedMap<Link, Int64?>()

  mutating func set(_ from: Int64, _ to: Int64, place: Int64? = nil) { links.set(Link(from: from, to: to), place) }
  mutating func remove(_ from: Int64, _ to: Int64) { links.remove(Link(from: from, to: to)) }
  package func contains(_ from: Int64, _ to: Int64) -> Bool { links[Link(from: from, to: to)] != nil }

  /// The rows that a number leads to, by key.
  package func targets(_ from: Int64) -> [(key: Int64, place: Int64?)] {
    var found: [(key: Int64, place: Int64?)] = []
    links.forEach(from: Link(from: from, to: .min)) { link, place in
      guard link.from == from else { return false }
      found.append((link.to, place))
      return true
    }
    return found
  }

  /// The number of rows that a number leads to.
  package func count(_ from: Int64) -> Int {
    var count = 0
    links.forEach(from: Link(from: from, to: .min)) { link, _ in
      guard link.from == from else { return false }
      count += 1
      return true
    }
    return count
  }
}
