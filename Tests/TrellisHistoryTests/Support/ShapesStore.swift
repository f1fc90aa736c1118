import Testing
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisTestSupport
import TrellisTimeTravel

@_spi(Generated) @testable import Trellis
@_spi(Generated) @testable import TrellisRuntime
@testable import TrellisStorage

/// A store whose model has a relationship of each shape, and values of each kind.
struct ShapesStore {
  let folder: TestFolder
  let container: PersistentContainer

  init(_ kind: StoreKind, folder: TestFolder? = nil) throws {
    self.folder = try folder ?? TestFolder()
    let description = try #require(ModelFile.parse(Array(Self.model.utf8), path: "Shapes.model.json").description)
    container = try PersistentContainer(
      model: ObjectModel(dynamic: description), store: kind.configuration(in: self.folder, durability: .durable))
  }

  /// Runs a closure with a new context and saves it.
  @discardableResult func save<Result>(
    by author: String? = nil, _ body: (ManagedObjectContext) throws -> Result
  ) throws -> Result {
    let context = container.newContext()
    context.author = author
    let result = try body(context)
    try context.save()
    try container.settle()
    return result
  }

  func lastSave() throws -> HistoryTransaction { try #require(try container.history().last) }

  /// Undoes saves in a context of their own, and saves.
  func undo(_ saves: HistoryTransaction...) throws {
    try save(by: "undo") { try container.undo(saves, in: $0) }
  }

  func picture(asOf token: HistoryToken? = nil) throws -> StorePicture {
    try StorePicture(token.map { try container.newContext(asOf: $0) } ?? container.newContext())
  }

  static let model = """
    {
      "model": "Shapes", "history": "values",
      "composites": { "Money": { "attributes": {
        "amount": { "type": "decimal", "default": 0 }, "currency": { "type": "string", "default": "KRW" } } } },
      "entities": {
        "Place": {
          "attributes": {
            "name": "string", "visits": { "type": "int64", "default": 0 }, "price": "Money", "tip": "Money?",
            "photo": { "type": "data?", "externalStorage": true }, "code": "string?"
          },
          "unique": ["code"],
          "relationships": {
            "within": { "destination": "Place", "inverse": "parts", "optional": true },
            "parts": { "destination": "Place", "inverse": "within", "toMany": true, "ordered": true, "deleteRule": "cascade" },
            "visitors": { "destination": "Person", "inverse": "places", "toMany": true, "ordered": true },
            "owner": { "destination": "Person", "inverse": "house", "optional": true },
            "near": { "destination": "Place", "inverse": "near", "toMany": true },
            "twin": { "destination": "Place", "inverse": "twin", "optional": true },
            "seenBy": { "destination": "Person", "toMany": true },
            "ranking": { "destination": "Person", "toMany": true, "ordered": true },
            "chief": { "destination": "Person", "optional": true },
            "notes": { "destination": "Note", "inverse": "place", "toMany": true, "deleteRule": "cascade" },
            "visits2": { "destination": "Visit", "inverse": "place", "toMany": true, "ordered": true }
          }
        },
        "Person": {
          "attributes": { "name": "string" },
          "relationships": {
            "places": { "destination": "Place", "inverse": "visitors", "toMany": true, "ordered": true },
            "seen": { "destination": "Visit", "inverse": "guest", "toMany": true, "deleteRule": "noAction" },
            "house": { "destination": "Place", "inverse": "owner", "optional": true },
            "notes": { "destination": "Note", "inverse": "writer", "toMany": true, "deleteRule": "deny" }
          }
        },
        "Guide": { "parent": "Person", "attributes": { "tours": "int64?" } },
        "Note": {
          "attributes": { "text": "string" },
          "relationships": {
            "place": { "destination": "Place", "inverse": "notes" },
            "writer": { "destination": "Person", "inverse": "notes", "optional": true }
          }
        },
        "Visit": {
          "attributes": { "day": "date?" },
          "relationships": {
            "place": { "destination": "Place", "inverse": "visits2", "optional": true },
            "guest": { "destination": "Person", "inverse": "seen", "optional": true }
          }
        }
      }
    }
    """
}

/// The content of a store by key and property: values and the keys of partners, as texts.
struct StorePicture: Equatable {
  private(set) var objects: [Int64: [String: [String]]] = [:]
  /// The names of lists whose order means something, and of relationships that the object's own row keeps.
  private(set) var ordered: Set<String> = []
  private(set) var references: Set<String> = []
  private(set) var attributes: Set<String> = []

  init(_ context: ManagedObjectContext) throws {
    for property in context.model.entities.flatMap(\.properties) {
      switch property {
      case .attribute: attributes.insert(property.name)
      case .relationship(let relationship):
        if relationship.isOrdered { ordered.insert(property.name) }
        if relationship.home.isColumn { references.insert(property.name) }
      }
    }
    for entity in context.model.entities where entity.parent == nil {
      for object in try context.objects(entity.name) { objects[object.key] = try content(object) }
    }
  }

  private func content(_ object: DynamicObject) throws -> [String: [String]] {
    var found: [String: [String]] = ["entity": [object.entityName]]
    for property in try object.ownEntity().properties {
      switch property {
      case .attribute(let attribute) where attribute.column != nil:
        found[attribute.name] = [try ValueText(attribute).text(object.value(attribute.name))]
      case .attribute: break
      case .relationship(let relationship) where relationship.isToMany:
        let keys = try object.memberKeys(relationship.name)
        found[relationship.name] = (relationship.isOrdered ? keys : keys.sorted()).map(String.init)
      case .relationship(let relationship):
        found[relationship.name] = [try object.partner(relationship.name).map { "\($0.key)" } ?? "nil"]
      }
    }
    return found
  }

  func differences(from other: StorePicture) -> [String] {
    var lines: [String] = []
    for key in Set(objects.keys).union(other.objects.keys).sorted() where objects[key] != other.objects[key] {
      guard let here = objects[key], let there = other.objects[key] else {
        lines.append("#\(key): \(objects[key] == nil ? "is missing" : "is too much")")
        continue
      }
      for name in here.keys.sorted() where here[name] != there[name] {
        lines.append("#\(key).\(name): \(here[name] ?? []) instead of \(there[name] ?? [])")
      }
    }
    return lines
  }
}

/// A context that changes objects of any model at random.
struct ShapesScribe {
  let context: ManagedObjectContext

  init(_ container: PersistentContainer) { context = container.newContext() }

  func step(_ random: inout SeededGenerator) throws {
    let entities = context.model.entities.filter { !$0.isAbstract }
    let entity = entities[random.below(entities.count)]
    switch random.below(10) {
    case 0..<2: try insert(entity, &random)
    case 2: if let object = try one(entity, &random) { try context.delete(object) }
    default: if let object = try one(entity, &random) { try edit(object, &random) }
    }
  }

  private func insert(_ entity: Entity, _ random: inout SeededGenerator) throws {
    var values: [String: StoredValue] = [:]
    for case let attribute? in entity.properties.map(\.attribute)
    where attribute.initialValue == nil || random.below(3) == 0 {
      guard attribute.column != nil, attribute.role == .plain else { continue }
      values[attribute.name] = value(of: attribute, &random)
    }
    var needed: [(Relationship, DynamicObject)] = []
    for case let relationship? in entity.properties.map(\.relationship) where relationship.isRequired {
      guard let partner = try one(context.model.entities[relationship.destination], &random) else { return }
      needed.append((relationship, partner))
    }
    let object = try context.insert(entity.name, values)
    for (relationship, partner) in needed { try object.set(relationship.name, partner) }
  }

  private func edit(_ object: DynamicObject, _ random: inout SeededGenerator) throws {
    let properties = try object.ownEntity().properties
    switch properties[random.below(properties.count)] {
    case .attribute(let attribute):
      guard attribute.column != nil, attribute.role != .presence else { return }
      try object.set(attribute.name, value(of: attribute, &random))
    case .relationship(let relationship):
      guard let partner = try one(context.model.entities[relationship.destination], &random) else { return }
      guard relationship.isToMany else {
        return try object.set(relationship.name, random.below(4) == 0 && !relationship.isRequired ? nil : partner)
      }
      let count = try object.memberKeys(relationship.name).count
      switch random.below(6) {
      case 0: try object.remove(partner, from: relationship.name)
      case 1: try object.set(relationship.name, Array(try object.members(relationship.name).reversed()))
      case 2: try object.add(partner, to: relationship.name, at: random.below(count + 1))
      default: try object.add(partner, to: relationship.name)
      }
    }
  }

  private func value(of attribute: Attribute, _ random: inout SeededGenerator) -> StoredValue {
    if attribute.isOptional && random.below(4) == 0 { return .null }
    let number = random.below(1000)
    return switch attribute.type {
    case .integer: .integer(Int64(number))
    case .date: .integer(Int64(number) * 86_400_000_000)
    case .decimal: .text("\(number)")
    case .data: .blob([UInt8](repeating: UInt8(number % 250), count: number % 3 == 0 ? 200_000 : number))
    default: .text("text \(number)")
    }
  }

  private func one(_ entity: Entity, _ random: inout SeededGenerator) throws -> DynamicObject? {
    let all = try context.objects(entity.name).sorted { $0.key < $1.key }
    return all.isEmpty ? nil : all[random.below(all.count)]
  }
}
