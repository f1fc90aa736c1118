import TrellisModel
import TrellisStorage

@testable import TrellisDynamic
@testable import TrellisSync

/// What a replica has saved and not sent, as its store shows it.
struct OwnChanges {
  private let sets: [ChangeSet]
  private let model: Model
  private let before: StorePicture

  /// Nil if the replica is not registered, or its history does not say what is unsent.
  init?(_ node: World.Node) throws {
    guard let record = try node.replica.state().record, record.number > 0 else { return nil }
    model = node.store.container.model
    do {
      sets = try node.replica.unsent(record).sets
    } catch let error as StoreError where error.code == .historyExpired {
      return nil
    } catch let error as SyncError where error.code == .unknownChanges {
      return nil
    }
    before = try node.store.picture()
  }

  /// What another picture of the store shows otherwise.
  func differences(in after: StorePicture) -> [String] {
    var lines: [String] = []
    for set in sets {
      for object in set.objects {
        if object.kind == .deleted {
          if after.objects[object.key] != nil, before.objects[object.key] == nil {
            lines.append("#\(object.key) returns")
          }
          continue
        }
        guard let old = before.objects[object.key] else { continue }
        guard let new = after.objects[object.key] else {
          // It may go with what it belongs to.
          let isCarriedAlong = object.values.contains { value in
            guard model.relationship(object.entity, value.property) != nil, case .integer(let key) = value.value
            else { return false }
            return after.objects[key] == nil
          }
          if object.kind == .inserted && !isCarriedAlong { lines.append("#\(object.key) is missing") }
          continue
        }
        for value in object.values {
          guard let property = model.property(object.entity, value.property), old[property.name] != new[property.name]
          else { continue }
          // Partners of a reference may be gone.
          if property.relationship != nil, let key = old[property.name]?.first.flatMap({ Int64($0) }),
            after.objects[key] == nil || property.relationship.flatMap({ model.inverse(of: $0) })?.isToMany == false
          {
            continue
          }
          lines.append("#\(object.key).\(property.name): \(new[property.name] ?? []) for \(old[property.name] ?? [])")
        }
      }
      for pair in set.pairs {
        guard let relationship = model.relationship(pair.entity, pair.property),
          let old = before.objects[pair.owner]?[relationship.name], after.objects[pair.member] != nil,
          let new = after.objects[pair.owner]?[relationship.name]
        else { continue }
        if old.contains("\(pair.member)") != new.contains("\(pair.member)") {
          lines.append("#\(pair.owner).\(relationship.name) with #\(pair.member) changes")
        }
      }
      for order in set.orders {
        guard let relationship = model.relationship(order.entity, order.property),
          let old = before.objects[order.owner]?[relationship.name],
          let new = after.objects[order.owner]?[relationship.name]
        else { continue }
        let common = Set(old).intersection(new)
        if old.filter(common.contains) != new.filter(common.contains) {
          lines.append("#\(order.owner).\(relationship.name) has another order")
        }
      }
    }
    return lines
  }
}
