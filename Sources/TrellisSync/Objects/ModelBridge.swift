import Foundation
import TrellisModel
import TrellisStorage

/// Translates the messages of replicas with an older model for a server whose model adds to it and renames.
///
/// What the older model has is in the newer one, under its name or another one, so only the numbers differ. What it does not have
/// is not sent to its replicas, and their change sets do not mention it, so they leave it as it is.
struct ModelBridge: Sendable {
  private let newer: ModelNumbers
  private let older: ModelNumbers
  /// What objects of replicas get in properties that these do not have, by newer entity.
  private let fillings: [[(property: Int, filling: Filling)]]

  /// - Throws: ``SyncError`` with the code `otherModel` if replicas with the older model cannot go on.
  init(from older: Model, to newer: Model) throws(SyncError) {
    guard older.name == newer.name else { throw .otherModel(older.name, newer.name) }
    let migration = Migration(from: older, to: newer)
    if let obstacle = Self.obstacle(to: migration) {
      // Then the replica may be the newer one.
      let isNewer = Self.obstacle(to: Migration(from: newer, to: older)) == nil
      throw isNewer ? .newerReplica : .differentModels("\(obstacle)")
    }
    self.newer = ModelNumbers(forward: migration.match)
    self.older = ModelNumbers(backward: migration.match)
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

  /// The first difference that is more than an addition or a name.
  private static func obstacle(to migration: Migration) -> Expansion.Obstacle? {
    Expansion(migration).obstacles.first { !$0.isName }
  }

  /// A change set of a replica, with the server's numbers.
  func translated(_ set: ChangeSet) -> ChangeSet {
    set.numbered(by: newer) { entity in
      fillings.indices.contains(entity) ? fillings[entity].compactMap(Self.value) : []
    }
  }

  /// The numbers that a property of the older model has in the newer one.
  func newer(_ entity: Int, _ property: Int) -> (entity: Int, property: Int)? {
    guard let number = newer.entity(entity), let property = newer.property(entity, property) else { return nil }
    return (number, property)
  }

  /// What has become of a change set, with the replica's names.
  ///
  /// - Parameter set: The change set with the server's numbers.
  func translated(_ outcome: PushOutcome, of set: ChangeSet) -> PushOutcome {
    var outcome = outcome
    outcome.losses = older.translated(outcome.losses, of: set)
    return outcome
  }

  private static func value(_ filling: (property: Int, filling: Filling)) -> ChangeSet.ObjectChange.Value? {
    switch filling.filling {
    case .value(let value): .init(property: filling.property, value: value, former: .null)
    case .now:
      .init(
        property: filling.property, value: .integer(Date().microseconds), former: .null)
    case .null, .newUUID, .expression, .unanswered: nil
    }
  }

  /// An answer with what the replica's model has, and its numbers.
  func translated(_ answer: PullAnswer) -> PullAnswer {
    var answer = answer
    answer.states = answer.states.compactMap { state in
      guard let entity = older.entity(state.entity) else { return nil }
      var state = state
      state.values = state.values.compactMap { value in
        older.property(state.entity, value.property).map { .init(property: $0, value: value.value) }
      }
      state.lists = state.lists.compactMap { list in
        older.property(state.entity, list.property).map { .init(property: $0, members: list.members) }
      }
      state.entity = entity
      return state
    }
    answer.orders = answer.orders.compactMap { order in
      guard let entity = older.entity(order.entity), let property = older.property(order.entity, order.property)
      else { return nil }
      return .init(entity: entity, property: property, owner: order.owner, members: order.members)
    }
    answer.ranges = answer.ranges.compactMap { range in
      older.entity(range.entity).map { .init(entity: $0, after: range.after, through: range.through) }
    }
    return answer
  }
}
