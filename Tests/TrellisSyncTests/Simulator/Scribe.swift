import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@testable import TrellisRuntime

/// A context that changes objects of any model at random.
struct Scribe {
  let context: ManagedObjectContext

  init(_ container: PersistentContainer) { context = container.newContext() }

  /// Makes some changes and saves them.
  /// - Returns: nil if there was nothing to save, false if the rules do not allow the changes.
  func save(_ random: inout SeededGenerator) throws -> Bool? {
    for _ in 0..<(1 + random.below(4)) { try step(&random) }
    guard context.hasChanges else { return nil }
    do {
      try context.save()
      return true
    } catch is ValidationError {
      return false
    }
  }

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
    for case let relationship? in entity.properties.map(\.relationship) where relationship.minimumCount ?? 0 > 0 {
      guard let partner = try one(context.model.entities[relationship.destination], &random) else { continue }
      try object.add(partner, to: relationship.name)
    }
  }

  private func edit(_ object: DynamicObject, _ random: inout SeededGenerator) throws {
    let all = try object.ownEntity().properties
    let links = all.filter { $0.relationship != nil }
    let properties = random.below(2) == 0 || links.isEmpty ? all : links
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

  /// Values are few, so that they meet.
  private func value(of attribute: Attribute, _ random: inout SeededGenerator) -> StoredValue {
    if attribute.isOptional && random.below(4) == 0 { return .null }
    let number = random.below(random.below(2) == 0 ? 6 : 20)
    return switch attribute.type {
    case .integer: .integer(Int64(number))
    case .bool: .integer(Int64(number % 2))
    case .date: .integer(Int64(number) * 86_400_000_000)
    case .decimal: .text("\(number)")
    case .data:
      .blob([UInt8](repeating: UInt8(number), count: number > 1 ? number : random.below(8) == 0 ? 200_000 : 3_000))
    default: .text("text \(number)")
    }
  }

  private func one(_ entity: Entity, _ random: inout SeededGenerator) throws -> DynamicObject? {
    let all = try context.objects(entity.name).sorted { $0.key < $1.key }
    if all.isEmpty { return nil }
    // Mostly the oldest ones, which all stores have.
    return all[random.below(random.below(4) == 0 ? all.count : min(3, all.count))]
  }
}
