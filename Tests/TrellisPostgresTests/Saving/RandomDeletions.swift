import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// A random model, rows for it, and what stores have after a delete of many.
struct RandomDeletions {
  private(set) var random: SeededGenerator
  let model: Model
  private var keys: [Int64] = []
  private var entities: [Int64: Int] = [:]

  private static let rules: [DeleteRule] = [
    .nullify, .nullify, .cascade, .cascade, .cascade, .noAction, .noAction, .deny,
  ]

  init(_ seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    model = try Self.model(&random)
  }

  // MARK: Models

  private static func model(_ random: inout SeededGenerator) throws -> Model {
    let names = ["Author", "Book", "Chapter", "Note", "Word"].prefix(2 + random.below(4))
    var entities = names.map { name in
      EntityDescription(
        name,
        attributes: [
          AttributeDescription("name", .string, keptInHistory: random.below(3) == 0),
          AttributeDescription("number", .int64),
        ])
    }
    // A child entity, which has relationships of its own.
    if random.below(2) == 0 {
      entities.append(
        EntityDescription(
          "Special", parent: entities[random.below(entities.count)].name,
          attributes: [AttributeDescription("extra", .string, optional: true)]))
    }
    for number in 0..<(2 + random.below(6)) {
      let (owner, partner) = (random.below(entities.count), random.below(entities.count))
      add(number, owner, partner, to: &entities, &random)
    }
    var description = ModelDescription(name: "Random", entities: entities)
    if random.below(2) == 0 { description.history = .changes }
    return try Model(description)
  }

  private static func add(
    _ number: Int, _ owner: Int, _ partner: Int, to entities: inout [EntityDescription],
    _ random: inout SeededGenerator
  ) {
    func rule() -> DeleteRule { rules[random.below(rules.count)] }
    let (out, back) = ("to\(number)", "from\(number)")
    let (ownerName, partnerName) = (entities[owner].name, entities[partner].name)
    let toMany = random.below(3) > 0
    let first = RelationshipDescription(
      out, to: partnerName, inverse: back, deleteRule: rule(), toMany: toMany, ordered: toMany && random.below(3) == 0,
      optional: !toMany)
    let (backRule, isBackMany) = (rule(), toMany && random.below(3) == 0)
    let second = RelationshipDescription(
      back, to: ownerName, inverse: out, deleteRule: backRule, toMany: isBackMany, optional: !isBackMany)
    switch random.below(6) {
    case 0:
      let oneWay = random.below(2) == 0
      entities[owner].relationships.append(
        RelationshipDescription(
          out, to: partnerName, deleteRule: [.nullify, .noAction][random.below(2)], toMany: oneWay, optional: !oneWay))
    default:
      entities[owner].relationships.append(first)
      entities[partner].relationships.append(second)
    }
  }

  // MARK: Rows

  /// A save of rows that refer to each other.
  mutating func filling() -> SaveRequest {
    let request = SaveRequest()
    keys = (1...(8 + random.below(25))).map { Int64($0) }
    for key in keys { entities[key] = random.below(model.entities.count) }
    var groups: [Int: [PlainRecord]] = [:]
    var taken: Set<[Int64]> = []
    for key in keys {
      guard let number = entities[key] else { continue }
      let entity = model.entities[number]
      var values = [StoredValue](repeating: .null, count: entity.columns.count)
      for property in entity.properties {
        switch property {
        case .attribute(let attribute):
          guard let column = attribute.column else { continue }
          values[column] = attribute.name == "number" ? .integer(Int64(random.below(6))) : .text("\(key)")
        case .relationship(let relationship):
          guard case .column(let column, let order) = relationship.home, random.below(4) > 0,
            let target = partner(of: relationship)
          else { continue }
          let isAlone = model.inverse(of: relationship).map { !$0.isToMany } ?? false
          if isAlone, !taken.insert([Int64(relationship.number.entity), Int64(relationship.index), target]).inserted {
            continue
          }
          values[column] = .integer(target)
          if let order { values[order] = .integer(key * 1_000) }
        }
      }
      groups[number, default: []].append(PlainRecord(entity, key: key, values))
    }
    request.inserts = groups.sorted { $0.key < $1.key }.map { .init(entity: $0.key, records: $0.value) }
    for table in model.joinTables { request.pairs.append(pairs(table)) }
    return request
  }

  private mutating func partner(of relationship: Relationship) -> Int64? {
    let subtree = model.entities[relationship.destination].subtree
    return keys.filter { entities[$0].map(subtree.contains) ?? false }.randomElement(using: &random)
  }

  private mutating func pairs(_ table: JoinTable) -> SaveRequest.Pairs {
    var pairs = SaveRequest.Pairs(table: table.index)
    let (owners, partners) = (model.entities[table.first.entity].subtree, model.entities[table.partnerEntity].subtree)
    var seen: Set<[Int64]> = []
    for number in 0..<random.below(20) {
      guard let first = keys.filter({ entities[$0].map(owners.contains) ?? false }).randomElement(using: &random),
        let partner = keys.filter({ entities[$0].map(partners.contains) ?? false }).randomElement(using: &random),
        seen.insert([first, partner]).inserted
      else { continue }
      let place = Int64(number + 1) * 1_000
      pairs.added.append(
        .init(
          first: first, partner: partner, place: table.first.orderColumn == nil ? nil : place,
          inversePlace: table.second?.orderColumn == nil ? nil : place))
    }
    return pairs
  }

  // MARK: Deletes

  mutating func delete() throws -> BatchDelete {
    let entity = model.entities[random.below(model.entities.count)]
    let number = PropertyPath(variable: 0).appending(entity.property(named: "number")?.index ?? 0)
    var request = StoreRequest(entity: entity.index, includesSubentities: random.below(4) > 0)
    switch random.below(4) {
    case 0: break
    case 1:
      request.predicate = .comparison(
        Comparison(.path(number), .less, .value(.integer(Int64(random.below(6)))), kind: .integer))
    case 2:
      let column = entity.properties.compactMap(\.relationship).first { $0.column != nil }
      if let column {
        let path = PropertyPath(variable: 0).appending(column.index)
        request.predicate = .comparison(Comparison(.path(path), .notEqual, .value(.null), kind: .integer))
      }
    default:
      request.sort = [SortKey(number, kind: .integer)]
      (request.limit, request.offset) = (1 + random.below(5), random.below(3))
    }
    return BatchDelete(request: request)
  }

  // MARK: What stores have

  /// All rows and pairs as lines, and the versions of the rows.
  func picture(_ connection: some StoreConnection) throws -> (lines: [String], versions: [Int64: Int64]) {
    var lines: [String] = []
    var versions: [Int64: Int64] = [:]
    for root in model.entities where root.parent == nil {
      try connection.fetch(StoreRequest(entity: root.index)) { reader in
        let row = try ReadRow(reader, model)
        let values = row.entity.properties.map { "\($0.name): \(row.value($0.index))" }
        lines.append("\(row.entity.name) \(row.storedKey) \(values.joined(separator: ", "))")
        versions[row.storedKey] = row.storedVersion
      }
    }
    for case .relationship(let relationship) in model.entities.flatMap(\.properties) where relationship.isJoined {
      try connection.memberKeys(of: relationship.number, owners: keys) { owner, member, place in
        lines.append("\(relationship.name) \(owner) \(member) \(place)")
      }
    }
    return (lines.sorted(), versions)
  }
}

/// What a delete of many has done, in a form that can be compared.
struct DeletionOutcome: Equatable {
  var found = 0
  var deleted: Set<BatchOutcome.Row> = []
  var updated: [Int64: BatchOutcome.Row] = [:]
  var denials: Set<ConstraintViolations.Denial> = []

  init(_ body: () throws -> BatchOutcome) throws {
    do {
      let outcome = try body()
      found = outcome.found
      deleted = Set(outcome.deleted)
      for row in outcome.updated {
        var row = row
        row.properties.bits |= updated[row.key]?.properties.bits ?? 0
        updated[row.key] = row
      }
    } catch let broken as ConstraintViolations {
      denials = Set(broken.denials)
    }
  }
}
