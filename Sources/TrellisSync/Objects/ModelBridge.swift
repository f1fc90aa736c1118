import Foundation
import TrellisModel
import TrellisStorage

/// Translates the messages of replicas with an older model for a server whose model adds to it, renames and removes.
///
/// What both models have differs in its numbers. What only the newer one has is not sent to replicas with the older one, and their
/// change sets do not mention it, so they leave it as it is. What the newer one has removed is left out of their change sets; it
/// stays in their stores until their models are updated.
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
      // Then the replica may be the newer one, unless the server's model says that it has removed what it does not have.
      let isNewer =
        migration.match.removals[obstacle.subject] == nil && Self.obstacle(to: Migration(from: newer, to: older)) == nil
      throw isNewer ? .newer(obstacle.subject) : .differentModels("\(obstacle)")
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

  /// The first difference that is more than an addition, a name, or a removal that replicas with the older model need not know of.
  private static func obstacle(to migration: Migration) -> Expansion.Obstacle? {
    let removals = migration.match.removals
    return Expansion(migration).obstacles.first { !$0.isName && removals[$0.subject] != true }
  }

  /// A change set of a replica, with the server's numbers.
  func translated(_ set: ChangeSet) -> ChangeSet {
    let translated = set.numbered(by: newer) { entity in
      fillings.indices.contains(entity) ? fillings[entity].compactMap(Self.value) : []
    }
    // What not even the older model has is left to be refused.
    return newer.knows(set) ? translated.withoutUnknown : translated
  }

  /// The numbers that a property of the older model has in the newer one; nil if it is removed.
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

extension ModelMatch {
  /// The entities and properties that the newer model has removed (`removed`), each with whether replicas with the older one can
  /// keep it by themselves: their objects from the server are valid without it, and the server's deletes can be carried out.
  fileprivate var removals: [String: Bool] {
    var removals: [String: Bool] = [:]
    for entity in stored.entities {
      guard let successor = successors[entity.index] else {
        if consentsToLosing(entity) { removals[entity.name] = successors[entity.root] == nil }
        continue
      }
      for property in entity.properties where property.declaring == entity.index && property.isStored {
        guard self.successor(of: property.index, in: entity.index) == nil else { continue }
        // Without the entity, there is nothing that the relationship could lead to.
        let isWithoutPartners = property.relationship.map { successors[$0.destination] == nil } ?? false
        if isWithoutPartners || consentsToLosing(property, of: successor) {
          removals["\(entity.name).\(property.name)"] = property.canBeMissing
        }
      }
    }
    return removals
  }
}

extension Property {
  /// Whether objects of replicas are valid without a value or partners, and can be deleted.
  fileprivate var canBeMissing: Bool {
    switch self {
    case .attribute(let attribute): attribute.isOptional || attribute.initialValue != nil
    case .relationship(let relationship):
      !relationship.isRequired && (relationship.minimumCount ?? 0) == 0 && relationship.deleteRule != .deny
    }
  }
}
