import TrellisModel
import TrellisStorage

/// Which entities and properties of a model are those of another version of it, by their numbers.
struct ModelNumbers: Sendable {
  /// A number that no entity and no property has.
  static let none = Int.max

  private let model: Model
  private let other: Model
  private let entities: [Int?]
  private let properties: [[Int?]]

  /// The way from a former model to a later one.
  init(forward match: ModelMatch) {
    (model, other) = (match.stored, match.current)
    entities = match.successors
    properties = match.stored.entities.map { entity in
      entity.properties.map { match.successor(of: $0.index, in: entity.index) }
    }
  }

  /// The way from a later model to a former one.
  init(backward match: ModelMatch) {
    (model, other) = (match.current, match.stored)
    entities = match.origins
    properties = match.origins.map { origin in origin.map { match.properties[$0] } ?? [] }
  }

  func entity(_ number: Int) -> Int? { entities.indices.contains(number) ? entities[number] : nil }

  func property(_ entity: Int, _ number: Int) -> Int? {
    guard properties.indices.contains(entity), properties[entity].indices.contains(number) else { return nil }
    return properties[entity][number]
  }

  /// Whether this model has all entities and properties in a change set.
  func knows(_ set: ChangeSet) -> Bool {
    func has(_ entity: Int, _ property: Int) -> Bool {
      properties.indices.contains(entity) && properties[entity].indices.contains(property)
    }
    return set.objects.allSatisfy { object in
      properties.indices.contains(object.entity) && object.values.allSatisfy { has(object.entity, $0.property) }
    } && set.pairs.allSatisfy { has($0.entity, $0.property) } && set.orders.allSatisfy { has($0.entity, $0.property) }
  }

  /// Losses with the other model's names, of objects whose changes are in a change set.
  ///
  /// - Parameter set: The change set with the numbers of this model.
  func translated(_ losses: [SyncConflict.Loss], of set: ChangeSet) -> [SyncConflict.Loss] {
    if !losses.contains(where: { $0.property != nil }) { return losses }
    let entities = set.entities
    return losses.map { loss in
      guard let name = loss.property, let entity = entities[loss.key], model.entities.indices.contains(entity),
        let property = model.entities[entity].property(named: name),
        let otherEntity = self.entity(entity), let number = self.property(entity, property.index)
      else { return loss }
      return SyncConflict.Loss(
        key: loss.key, property: other.entities[otherEntity].properties[number].name, reason: loss.reason)
    }
  }
}

extension ChangeSet {
  /// The number of the entity of each object whose changes are in the set.
  fileprivate var entities: [Int64: Int] {
    var entities: [Int64: Int] = [:]
    for pair in pairs { entities[pair.owner] = pair.entity }
    for order in orders { entities[order.owner] = order.entity }
    for object in objects { entities[object.key] = object.entity }
    return entities
  }

  /// The same changes with the numbers of another version of the model, and ``ModelNumbers/none`` for what it does not have.
  ///
  /// - Parameter adding: What new objects of an entity have besides, by its number in the other model.
  func numbered(
    by numbers: ModelNumbers, adding: (Int) -> [ObjectChange.Value] = { _ in [] }
  ) -> ChangeSet {
    var copy = self
    copy.objects = objects.map { object in
      var object = object
      let former = object.entity
      object.entity = numbers.entity(former) ?? ModelNumbers.none
      object.values = object.values.map { value in
        var value = value
        value.property = numbers.property(former, value.property) ?? ModelNumbers.none
        return value
      }
      if object.kind == .inserted { object.values += adding(object.entity) }
      return object
    }
    copy.pairs = pairs.map { pair in
      var pair = pair
      pair.property = numbers.property(pair.entity, pair.property) ?? ModelNumbers.none
      pair.entity = numbers.entity(pair.entity) ?? ModelNumbers.none
      return pair
    }
    copy.orders = orders.map { order in
      var order = order
      order.property = numbers.property(order.entity, order.property) ?? ModelNumbers.none
      order.entity = numbers.entity(order.entity) ?? ModelNumbers.none
      return order
    }
    return copy
  }

  /// The same changes without what has no number, and without updates of nothing else.
  var withoutUnknown: ChangeSet {
    var set = self
    set.objects = objects.compactMap { object in
      var left = object
      left.values.removeAll { $0.property == ModelNumbers.none }
      let isEmpty = object.kind == .updated && left.values.isEmpty && !object.values.isEmpty
      return object.entity == ModelNumbers.none || isEmpty ? nil : left
    }
    set.pairs.removeAll { $0.property == ModelNumbers.none }
    set.orders.removeAll { $0.property == ModelNumbers.none }
    return set
  }
}
