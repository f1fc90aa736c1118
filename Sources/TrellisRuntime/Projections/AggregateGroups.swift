import TrellisQuery
import TrellisSchema
import TrellisStorage

/// A group's key and the states of its aggregates.
struct AggregateGroup {
  let key: [StoredValue]
  var states: [AggregateState]
}

/// The groups of a request, built row by row.
struct AggregateGroups {
  private let steps: [AggregateStep]
  private let kinds: [ValueKind]
  private var places: [[StoredValue]: Int] = [:]
  private var groups: [AggregateGroup] = []

  init(keys: [ProjectedPath], _ steps: [AggregateStep]) {
    self.steps = steps
    kinds = keys.map(\.kind)
    if keys.isEmpty { _ = place(of: []) }
  }

  mutating func add(_ values: [StoredValue]) throws {
    let place = place(of: Array(values.prefix(kinds.count)))
    for number in steps.indices {
      try steps[number].add(&groups[place].states[number], values[kinds.count + number])
    }
  }

  private mutating func place(of key: [StoredValue]) -> Int {
    let same = normalized(key, kinds)
    if let place = places[same] { return place }
    places[same] = groups.count
    groups.append(AggregateGroup(key: key, states: steps.map { _ in AggregateState() }))
    return groups.count - 1
  }

  var sorted: [AggregateGroup] {
    groups.sorted { left, right in
      for (kind, values) in zip(kinds, zip(left.key, right.key)) {
        let order = ValueOrder.compare(values.0, values.1, kind: kind)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }
}
