import Foundation
import TrellisModel
import TrellisStorage

/// Translates the messages of replicas with an older model for a server whose model only adds to it.
///
/// What the older model has is in the newer one under the same names, so only the numbers differ. What it does not have is not
/// sent to its replicas, and their change sets do not mention it, so they leave it as it is.
struct ModelBridge: Sendable {
  /// The numbers of an entity and its properties in the other model; nil for what it does not have.
  private struct Numbers {
    var entity: Int
    var properties: [Int?]
  }

  /// The newer numbers of each older entity, and the older ones of each newer entity.
  private let newer: [Numbers]
  private let older: [Numbers?]
  /// What objects of replicas get in properties that these do not have, by newer entity.
  private let fillings: [[(property: Int, filling: Filling)]]

  /// - Throws: ``SyncError`` with the code `otherModel` if replicas with the older model cannot go on.
  init(from older: Model, to newer: Model) throws(SyncError) {
    guard older.name == newer.name else { throw .otherModel(older.name, newer.name) }
    let migration = Migration(from: older, to: newer)
    let expansion = Expansion(migration)
    guard expansion.isAdditive else {
      // Then the replica may be the newer one.
      let isNewer = Expansion(Migration(from: newer, to: older)).isAdditive
      throw isNewer ? .newerReplica : .differentModels(expansion.obstacles.first.map { "\($0)" })
    }
    self.newer = older.entities.map { entity in
      guard let successor = migration.match.successors[entity.index] else {
        return Numbers(entity: Self.none, properties: [])
      }
      let origins = migration.match.properties[entity.index]
      return Numbers(
        entity: successor, properties: entity.properties.map { property in origins.firstIndex(of: property.index) })
    }
    self.older = newer.entities.map { entity in
      migration.match.origins[entity.index].map { origin in
        Numbers(entity: origin, properties: migration.match.properties[origin])
      }
    }
    fillings = newer.entities.map { entity in
      guard let origin = migration.match.origins[entity.index], let move = migration.rows[origin],
        move.entity == entity.index
      else { return [] }
      return zip(entity.columns, move.columns).compactMap { column, source in
        if case .new(let filling) = source, entity.properties[column.property].attribute != nil {
          return (column.property, filling)
        }
        return nil
      }
    }
  }

  /// A number that no entity and no property has.
  private static let none = Int.max

  /// A change set of a replica, with the server's numbers.
  func translated(_ set: ChangeSet) -> ChangeSet {
    set.numbered { entity in
      newer.indices.contains(entity) ? newer[entity].entity : Self.none
    } property: { entity, property in
      guard newer.indices.contains(entity), newer[entity].properties.indices.contains(property) else {
        return Self.none
      }
      return newer[entity].properties[property] ?? Self.none
    } adding: { entity in
      fillings.indices.contains(entity) ? fillings[entity].compactMap(Self.value) : []
    }
  }

  private static func value(_ filling: (property: Int, filling: Filling)) -> ChangeSet.ObjectChange.Value? {
    switch filling.filling {
    case .value(let value): .init(property: filling.property, value: value, former: .null)
    case .now:
      .init(
        property: filling.property, value: .integer(Int64(Date().timeIntervalSince1970 * 1_000_000)), former: .null)
    case .null, .newUUID, .expression, .unanswered: nil
    }
  }

  /// An answer with what the replica's model has, and its numbers.
  func translated(_ answer: PullAnswer) -> PullAnswer {
    var answer = answer
    answer.states = answer.states.compactMap { state in
      guard older.indices.contains(state.entity), let numbers = older[state.entity] else { return nil }
      var state = state
      state.entity = numbers.entity
      state.values = state.values.compactMap { value in
        numbers.properties[value.property].map { .init(property: $0, value: value.value) }
      }
      state.lists = state.lists.compactMap { list in
        numbers.properties[list.property].map { .init(property: $0, members: list.members) }
      }
      return state
    }
    answer.orders = answer.orders.compactMap { order in
      guard let numbers = older[order.entity], let property = numbers.properties[order.property] else { return nil }
      return .init(entity: numbers.entity, property: property, owner: order.owner, members: order.members)
    }
    answer.ranges = answer.ranges.compactMap { range in
      older[range.entity].map { .init(entity: $0.entity, after: range.after, through: range.through) }
    }
    return answer
  }
}
