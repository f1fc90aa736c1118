package import TrellisModel
@_spi(Generated) package import TrellisRuntime
@_spi(Generated) package import TrellisStorage

/// An object of an entity without a generated class. Its values are in an array, by property number.
///
/// The object is one of the context like any other: the runtime knows objects by the functions that this class
/// overrides, so every rule of the model applies. Only hooks do not run, because their code is in the program that has
/// the generated classes. A `Codable` struct is its JSON text.
///
/// Properties are read and set by name; see ``value(_:)`` and ``set(_:_:)-(_,StoredValue)``.
package class DynamicObject: ManagedObject {
  /// The entity; nil for a placeholder that was created after its context was deinitialized.
  package final let entity: Entity?
  /// The values of attributes and the keys of references.
  final var row: DynamicRow
  /// The positions in ordered relationships, by the number of the reference.
  private final var places: [Int: Int64] = [:]

  /// Inserts a new object with checked values.
  ///
  /// - Parameter row: The values of all attributes.
  required init(inserting row: DynamicRow, of entity: Entity, into context: ManagedObjectContext) {
    self.entity = entity
    self.row = row
    super.init(_insertedInto: context)
  }

  package required init(_ row: borrowing RowReader, in link: borrowing ContextLink) {
    let entity = link.entity(Self._entity)
    self.entity = entity
    self.row = entity.map(DynamicRow.init(fetched:)) ?? DynamicRow(values: [])
    if let entity { places = self.row.read(row, of: entity) }
    super.init(row, in: link)
  }

  package override func _read(_ row: RowReader) {
    if let entity { places = self.row.read(row, of: entity) }
  }

  package override func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    guard let entity else { return }
    for column in entity.columns where properties.contains(column.property) {
      switch column.content {
      case .attribute(let property), .reference(let property, destination: _):
        row.write(self.row.value(property), of: column, in: entity)
      case .order(let property): row.write(places[property].map { .integer($0) } ?? .null)
      }
    }
  }

  package override func _value(_ property: Int) -> StoredValue { row.value(property) }

  package override func _reference(_ property: Int) -> Int64 {
    guard isReference(property) else { return -1 }
    return if case .integer(let key) = row.value(property) { key } else { 0 }
  }

  package override func _setReference(_ property: Int, _ key: Int64) {
    if isReference(property) { row.values[property] = key == 0 ? .null : .integer(key) }
  }

  package override func _place(_ property: Int) -> Int64? { places[property] }
  package override func _setPlace(_ property: Int, _ place: Int64?) { places[property] = place }

  package override func _copyRow() -> RowCopyBase { RowCopy(row) }

  package override func _restore(_ properties: ColumnMask, from copy: RowCopyBase) {
    restore(properties, from: copy, isStored: true)
  }

  package override func _copyTransients() -> RowCopyBase? {
    entity?.properties.contains { !$0.isInRow && $0.attribute != nil } == true ? RowCopy(row) : nil
  }

  package override func _restoreTransients(_ properties: ColumnMask, from copy: RowCopyBase) {
    restore(properties, from: copy, isStored: false)
  }

  private final func restore(_ properties: ColumnMask, from copy: RowCopyBase, isStored: Bool) {
    guard let entity, let old = copy.part(DynamicRow.self) else { return }
    for property in entity.properties where property.isInRow == isStored && properties.contains(property.index) {
      row.values[property.index] = old.value(property.index)
    }
  }

  private final func isReference(_ property: Int) -> Bool {
    guard let entity, entity.properties.indices.contains(property) else { return false }
    return entity.properties[property].relationship?.isColumn == true
  }
}

/// The class of the entities with a number, one in each model.
final class DynamicEntity<Number: EntityNumber>: DynamicObject {
  package override class var _entity: Int { Number.value }
}

extension Property {
  /// Whether the property has a column.
  fileprivate var isInRow: Bool { column != nil }
}

/// The values of an object by property number: stored forms of attributes and keys of references. Null for
/// relationships that are stored elsewhere.
struct DynamicRow: StoredFields {
  var values: [StoredValue]

  func value(_ property: Int) -> StoredValue { values.indices.contains(property) ? values[property] : .null }

  func _value(_ property: Int) -> StoredValue? { value(property) }

  init(values: [StoredValue]) { self.values = values }

  /// The values of a fetched object before its columns are read.
  init(fetched entity: Entity) {
    values = entity.properties.map { property in
      property.attribute.map { $0.column == nil ? $0.initialValue ?? $0.placeholder : .null } ?? .null
    }
  }

  /// Reads the columns of a row.
  ///
  /// - Returns: the positions in ordered relationships.
  mutating func read(_ row: RowReader, of entity: Entity) -> [Int: Int64] {
    var places: [Int: Int64] = [:]
    for (number, column) in entity.columns.enumerated() {
      switch column.content {
      case .attribute(let property):
        guard let attribute = entity.properties[property].attribute else { continue }
        values[property] = attribute.read(row, number)
      case .reference(let property, destination: _):
        values[property] = row.isNull(number) ? .null : .integer(row.integer(number))
      case .order(let property): if !row.isNull(number) { places[property] = row.integer(number) }
      }
    }
    return places
  }
}
