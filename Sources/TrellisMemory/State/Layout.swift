import TrellisQuery
package import TrellisSchema
import TrellisStorage

/// The layout that a store derives from its model once: the indexes, and the rows that belong to each.
package struct Layout: Sendable {
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
  package private(set) var references: [Reference] = []
  package private(set) var valueIndexes: [ValueIndex] = []
  /// The references and unique keys of each entity, including inherited ones.
  package private(set) var referencesOf: [[Reference]] = []
  package private(set) var valueIndexesOf: [[ValueIndex]] = []
  private(set) var orderedIndexes: [OrderedIndex] = []
  private(set) var orderedIndexesOf: [[OrderedIndex]] = []
  /// The join tables whose first end or partner may be a row of the entity.
  package private(set) var firstEndsOf: [[Int]] = []
  package private(set) var partnerEndsOf: [[Int]] = []
  private var referenceNumbers: [RelationshipNumber: Int] = [:]

  package init(_ model: Model) {
    self.model = model
    for entity in model.entities { addIndexes(of: entity) }
    for entity in model.entities { assign(entity) }
  }

  /// The reference of a to-one with a column, for any entity of the hierarchy.
  func reference(_ relationship: Relationship) -> Reference? {
    referenceNumbers[RelationshipNumber(entity: relationship.entity, property: relationship.index)].map {
      references[$0]
    }
  }

  // MARK: Creation

  private mutating func addIndexes(of entity: Entity) {
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
    let reference = Reference(
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
    valueIndexes.append(ValueIndex(index: valueIndexes.count, entity: entity, columns: columns))
  }

  private mutating func add(_ index: Index, of entity: Entity) {
    let columns = index.elements.compactMap { entity.properties[$0.property].column }
    guard !columns.isEmpty, columns.count == index.elements.count else { return }
    let shape = IndexShape(
      columns: columns, kinds: columns.map { Self.kind(of: $0, entity) },
      isDescending: index.elements.map(\.isDescending))
    orderedIndexes.append(OrderedIndex(index: orderedIndexes.count, entity: entity.index, shape: shape))
  }

  /// The comparison kind of a column's values.
  static func kind(of column: Int, _ entity: Entity) -> ValueKind {
    let column = entity.columns[column]
    guard case .attribute(let number) = column.content, let attribute = entity.properties[number].attribute else {
      return ValueKind(column.storageClass)
    }
    return attribute.valueKind
  }

  private mutating func assign(_ entity: Entity) {
    let family = Set(lineage(entity.index))
    referencesOf.append(references.filter { family.contains($0.entity) })
    valueIndexesOf.append(valueIndexes.filter { family.contains($0.entity) })
    orderedIndexesOf.append(orderedIndexes.filter { family.contains($0.entity) })
    firstEndsOf.append(model.joinTables.filter { family.contains($0.first.entity) }.map(\.index))
    partnerEndsOf.append(model.joinTables.filter { family.contains($0.partnerEntity) }.map(\.index))
  }

  private func lineage(_ entity: Int) -> [Int] {
    var line = [entity]
    while let parent = model.entities[line[line.count - 1]].parent { line.append(parent) }
    return line
  }
}
