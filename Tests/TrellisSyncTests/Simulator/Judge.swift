import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisDynamic
@_spi(Generated) import TrellisRuntime
@testable import TrellisStorage
@testable import TrellisSync
@testable import TrellisTimeTravel

/// Decides independently of the server what its answers to change sets have to be, from the history of its store.
struct Judge {
  private struct Save {
    let token: HistoryToken
    let author: String
    let time: Int64
    /// The changed properties by key; nil for inserts and deletes.
    var names: [Int64: Set<String>?] = [:]
    var deleted: Set<Int64> = []
  }

  private var container: PersistentContainer
  private let policy: SyncPolicy
  private var saves: [Save] = []

  init(_ container: PersistentContainer, _ policy: SyncPolicy) { (self.container, self.policy) = (container, policy) }

  private var model: Model { container.model }

  /// The server's store is open anew.
  mutating func follow(_ container: PersistentContainer) { self.container = container }

  /// Reads what is new in the history, before it is deleted.
  mutating func read() throws {
    for found in try container.history(since: saves.last?.token) {
      let author = found.author ?? ""
      var time = found.date.microseconds
      if author.hasPrefix("sync to "), let written = author.split(separator: " ").last.flatMap({ Int64($0) }) {
        time = written
      }
      var save = Save(token: found.token, author: author, time: time)
      for change in found.changes {
        let key = change.id.key
        switch change {
        case .inserted: save.names[key] = .some(nil)
        case .updated(_, let names): save.names[key] = Set(names)
        case .deleted:
          save.names[key] = .some(nil)
          save.deleted.insert(key)
        }
      }
      saves.append(save)
    }
  }

  /// What is wrong with the answer to a change set.
  mutating func objections(
    to outcome: PushOutcome, _ set: ChangeSet, of number: Int64, _ unions: [Int64: Int64]
  ) throws -> [String] {
    try read()
    let set = set.translated(by: unions, in: model)
    let prefix = "sync to \(number) "
    let base = HistoryToken(set.base)?.transaction ?? 0
    let place = saves.firstIndex { $0.author.hasPrefix("\(prefix)\(set.sequence) \(set.id) ") }
    let others = saves[..<(place ?? saves.count)].filter {
      $0.token.transaction > base && !$0.author.hasPrefix(prefix)
    }
    if outcome.verdict == .refused {
      if place != nil { return ["was refused and saved"] }
      return try objections(toRefusal: outcome, set, others)
    }
    guard let place else { return [] }
    do {
      var trial = Trial(
        outcome: outcome, set: set, others: Array(others), time: saves[place].time,
        policy: policy, isExpired: try isExpired(set),
        before: MomentView(
          try container.newContext(
            asOf: place == 0 ? container.historyToken(before: container.history(limit: 1)[0]) : saves[place - 1].token)),
        after: MomentView(try container.newContext(asOf: saves[place].token)))
      try trial.run()
      return trial.objections
    } catch let error as StoreError where error.code == .historyExpired {
      // The save was made before the history was deleted, and is answered after it.
      return []
    }
  }

  /// Whether the server does not have all changes since a change set was made.
  private func isExpired(_ set: ChangeSet) throws -> Bool {
    guard let base = HistoryToken(set.base) else {
      return try container.history(limit: 1).first?.token.transaction != 1
    }
    do {
      _ = try container.history(since: base, limit: 1)
      return false
    } catch let error as StoreError where error.code == .historyExpired {
      return true
    }
  }

  private func objections(toRefusal outcome: PushOutcome, _ set: ChangeSet, _ others: [Save]) throws -> [String] {
    switch outcome.reason {
    case .changed where try isExpired(set): return []
    case .changed:
      let isJust = set.objects.contains { object in
        object.kind == .deleted && others.contains { $0.names[object.key] != nil }
      }
      return isJust ? [] : ["was refused as changed, and nobody else has changed it"]
    case .unknownValues: return ["was refused for unknown values"]
    case .deleted, .partnerGone, .brokenRules: return []
    default: return ["was refused for \(outcome.reason?.rawValue ?? "no reason")"]
    }
  }

  /// The time that the server has noted for a change set.
  mutating func time(of set: ChangeSet, by number: Int64) throws -> Int64? {
    try read()
    return saves.first { $0.author.hasPrefix("sync to \(number) \(set.sequence) \(set.id) ") }?.time
  }

  /// The number of the last transaction at the server that was a change set of a replica.
  func lastSave(of number: Int64) -> Int64? {
    saves.last { $0.author.hasPrefix("sync to \(number) ") }?.token.transaction
  }

  private struct Trial {
    let outcome: PushOutcome
    let set: ChangeSet
    let others: [Save]
    let time: Int64
    let policy: SyncPolicy
    /// Whether the server does not know of all others. Then it only compares values.
    let isExpired: Bool
    let before: MomentView
    let after: MomentView
    var objections: [String] = []

    private var model: Model { after.context.model }

    mutating func run() throws {
      let united = Set(outcome.unions.flatMap { [$0.key, $0.survivor] })
      for object in set.objects where !united.contains(object.key) {
        switch object.kind {
        case .deleted:
          if others.contains(where: { $0.names[object.key] != nil && !$0.deleted.contains(object.key) }),
            try before.object(object.key, of: object.entity) != nil
          {
            objections.append(
              "#\(object.key) was deleted, although others have changed it: \(others.filter { $0.names[object.key] != nil })"
            )
          }
        case .inserted, .updated:
          guard let present = try after.object(object.key, of: object.entity) else { continue }
          let former = try before.object(object.key, of: object.entity)
          for value in object.values { try judge(value, object, former, present) }
        }
      }
      for pair in set.pairs where pair.isAdded {
        guard let relationship = model.relationship(pair.entity, pair.property) else { continue }
        let isThere =
          try after.object(pair.owner, of: relationship.entity) != nil
          && after.object(pair.member, of: relationship.destination) != nil
        let goesNow = set.objects.contains { $0.kind == .deleted && [pair.owner, pair.member].contains($0.key) }
        if !isThere && !goesNow && !isLost(pair.owner, relationship.name)
          && !united.contains(pair.owner) && !united.contains(pair.member)
        {
          objections.append("pair \(relationship.name) of #\(pair.owner) and #\(pair.member) is neither there nor lost")
        }
        if isThere,
          try !after.partners(of: after.object(pair.owner, of: relationship.entity)!, relationship).contains(
            pair.member),
          model.inverse(of: relationship)?.isToMany != false
        {
          objections.append("pair \(relationship.name) of #\(pair.owner) and #\(pair.member) is missing")
        }
      }
    }

    private func isLost(_ key: Int64, _ name: String) -> Bool {
      outcome.losses.contains { $0.key == key && $0.property == name }
    }

    private mutating func judge(
      _ value: ChangeSet.ObjectChange.Value, _ object: ChangeSet.ObjectChange, _ former: ManagedObject?,
      _ present: ManagedObject
    ) throws {
      guard let property = model.property(object.entity, value.property) else { return }
      let what = "#\(object.key).\(property.name)"
      let isLost = isLost(object.key, property.name)
      if let relationship = property.relationship {
        guard case .integer(let partner) = value.value, !isLost, !relationship.isLeftAlone else { return }
        let goesNow = set.objects.contains { $0.kind == .deleted && $0.key == partner }
        if try after.object(partner, of: relationship.destination) == nil, !goesNow,
          try !others.contains(where: { $0.names[object.key]??.contains(property.name) == true })
            || before.object(partner, of: relationship.destination) == nil
        {
          objections.append("\(what) refers to nothing, without a loss")
        }
        return
      }
      let found = try after.rowValue(of: property, present) ?? .null
      let other = others.last { $0.names[object.key]??.contains(property.name) == true }
      guard object.kind == .updated, let other, let former else {
        if !found.isSame(as: value.value) { objections.append("\(what) is \(found) instead of \(value.value)") }
        if isLost { objections.append("\(what) was lost, and nobody else has changed it") }
        return
      }
      if isExpired { return }
      let old = try before.rowValue(of: property, former) ?? .null
      let decision = policy.decision(object.entity, property, in: model)
      if decision == .sum, property.attribute?.type.hasSum == true {
        if case .integer(let number) = old, case .integer(let new) = value.value, case .integer(let was) = value.former
        {
          if !found.isSame(as: .integer(number + new - was)) { objections.append("\(what) is no sum") }
          return
        }
        // The decimals of the simulator have no fractions.
        if let number = old.wholeDecimal, let new = value.value.wholeDecimal, let was = value.former.wholeDecimal {
          if found.wholeDecimal != number + new - was { objections.append("\(what) is no sum") }
          return
        }
      }
      if old.isSame(as: value.value) { return }
      let takesReplica =
        switch decision {
        case .latest, .sum: time >= other.time
        case .replica: true
        case .server: false
        }
      let wanted = takesReplica ? value.value : old
      if !found.isSame(as: wanted) { objections.append("\(what) is \(found) instead of \(wanted)") }
      if isLost == takesReplica { objections.append("\(what) is \(isLost ? "" : "not ")lost") }
    }
  }
}

extension StoredValue {
  fileprivate var wholeDecimal: Int64? {
    if case .text(let text) = self { Int64(text) } else { nil }
  }
}
