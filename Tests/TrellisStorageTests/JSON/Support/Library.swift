import TrellisModel
import TrellisStorage

/// A small model with every type and every kind of relationship that a document writes in its own way.
enum Library {
  static let description = ModelDescription(
    name: "Library", version: "2",
    enums: [
      EnumDescription("Mood", rawType: .string, cases: [.init("calm", .text("calm")), .init("wild", .text("wild"))])
    ],
    codableTypes: ["Address"], entities: [author, book, tag, sample])

  private static let author = EntityDescription(
    "Author", attributes: [AttributeDescription("name", .string), AttributeDescription("mood", .enumeration("Mood"))],
    relationships: [
      RelationshipDescription(
        "books", to: "Book", inverse: "author", deleteRule: .cascade, toMany: true, ordered: true),
      RelationshipDescription("friends", to: "Author", inverse: "friends", toMany: true),
    ],
    uniqueKeys: [["name"]])

  private static let book = EntityDescription(
    "Book",
    attributes: [AttributeDescription("title", .string), AttributeDescription("pages", .int32, optional: true)],
    relationships: [
      RelationshipDescription("author", to: "Author", inverse: "books", optional: true),
      RelationshipDescription("tags", to: "Tag", inverse: "books", toMany: true, ordered: true),
    ],
    indexes: [IndexDescription([.init("pages"), .init("title", descending: true)])])

  private static let tag = EntityDescription(
    "Tag", attributes: [AttributeDescription("label", .string)],
    relationships: [RelationshipDescription("books", to: "Book", inverse: "tags", toMany: true)])

  private static let sample = EntityDescription(
    "Sample",
    attributes: AttributeType.scalars.map { AttributeDescription("the_\($0.spelling)", $0, optional: true) } + [
      AttributeDescription("list", .array(.string), optional: true),
      AttributeDescription("address", .codable("Address"), optional: true),
    ])

  static func model() throws -> Model { try Model(description) }
}

/// An object that is nothing but its row.
final class Record: StoredRecord {
  let entity: Entity
  let storedKey: Int64
  var storedVersion: Int64
  var values: [StoredValue]

  init(_ model: Model, _ name: String, _ key: Int64, _ values: [String: StoredValue], version: Int64 = 0) throws {
    guard let entity = model.entity(named: name) else { throw NoEntity() }
    self.entity = entity
    storedKey = key
    storedVersion = version
    self.values = entity.columns.map { values[$0.name] ?? .null }
  }

  struct NoEntity: Error {}

  func writeRow(to row: RowWriter) { for value in values { row.append(value) } }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) { writeRow(to: row) }
}

extension RowWriter {
  fileprivate func append(_ value: StoredValue) {
    switch value {
    case .null: null()
    case .integer(let value): integer(value)
    case .real(let value): real(value)
    case .text(let value): text(value)
    case .blob(let value): value.withUnsafeBytes { blob($0) }
    case .file(let value): file(value)
    }
  }
}

extension Store {
  func insert(_ records: [Record], pairs: [SaveRequest.Pairs] = []) throws {
    let request = SaveRequest()
    request.inserts = records.map { SaveRequest.Inserts(entity: $0.entity.index, records: [$0]) }
    request.pairs = pairs
    try connect().save(request)
    for record in records { record.storedVersion = 1 }
  }

  func update(_ record: Record) throws {
    let request = SaveRequest()
    request.updates = [SaveRequest.Updates(entity: record.entity.index, records: [record], masks: [.all])]
    try connect().save(request)
    record.storedVersion += 1
  }

  /// Every row of an entity: its key, version and values.
  func rows(_ model: Model, _ name: String) throws -> [[StoredValue]] {
    guard let entity = model.entity(named: name) else { return [] }
    var rows: [[StoredValue]] = []
    try connect().fetch(StoreRequest(entity: entity.index)) { row in
      rows.append(
        [.integer(row.key), .integer(row.version)]
          + entity.columns.enumerated().map { row.value($0, $1.storageClass) })
    }
    return rows
  }

  /// Every row of every entity, and every member of every to-many.
  func everything(_ model: Model) throws -> [String: [[StoredValue]]] {
    var found: [String: [[StoredValue]]] = [:]
    for entity in model.entities {
      let rows = try rows(model, entity.name)
      found[entity.name] = rows
      let owners = rows.compactMap { row in if case .integer(let key) = row[0] { key } else { nil } }
      for property in entity.properties {
        guard let relationship = property.relationship, relationship.isToMany else { continue }
        try connect().memberKeys(
          of: RelationshipNumber(entity: relationship.entity, property: relationship.index), owners: owners
        ) { owner, member, place in
          found["\(entity.name).\(relationship.name)", default: []].append(
            [.integer(owner), .integer(member), .integer(place)])
        }
      }
    }
    return found
  }
}
