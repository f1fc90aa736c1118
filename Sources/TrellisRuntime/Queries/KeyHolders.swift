import TrellisModel
import TrellisStorage

/// A search for the objects that have some values in a unique key, as a context sees them: with its unsaved changes.
///
/// Until a save, several objects may have the same values.
struct KeyHolderSearch {
  private let graph: ObjectGraph
  private let key: UniqueKey
  /// Those of the key's properties that are references.
  private let references: [Relationship?]
  /// The values to search for: each combination once, none with a null.
  private var values: [[StoredValue]]
  private var numbers: [KeyValues: Int] = [:]
  /// The combination that is searched for, by the number of the given one; nil if no object can have it.
  private(set) var combinations: [Int?] = []

  /// - Parameter values: A list for each property of the key. The n-th values of all lists belong together.
  init(_ graph: ObjectGraph, _ key: UniqueKey, values given: [[StoredValue]]) {
    self.graph = graph
    self.key = key
    let info = graph.runtime.info(key.entity)
    references = key.properties.map { info.relationships[$0] }
    values = key.properties.map { _ in [] }
    guard given.count == key.properties.count else { return }
    let count = given.lazy.map(\.count).min() ?? 0
    combinations.reserveCapacity(count)
    for number in 0..<count { combinations.append(add(given.map { $0[number] })) }
  }

  private mutating func add(_ combination: [StoredValue]) -> Int? {
    for (value, reference) in zip(combination, references) {
      if value.isNull { return nil }
      // References to an object that is deleted are null.
      if reference != nil, case .integer(let partner) = value, graph.map[partner]?.phase == .deleted { return nil }
    }
    let next = numbers.count
    let number = numbers[KeyValues(combination), default: next]
    guard number == next else { return number }
    numbers[KeyValues(combination)] = number
    for place in combination.indices { values[place].append(combination[place]) }
    return number
  }

  /// Calls a closure with each object found and the number of its combination: first the objects that are as the store
  /// has them, then edited ones, then new ones.
  ///
  /// - Complexity: that of the store's search, plus the number of unsaved changes.
  func forEach(_ body: (_ combination: Int, ManagedObject) throws -> Void) throws {
    if numbers.isEmpty { return }
    for (number, object) in try stored() { try body(number, object) }
    try graph.evaluating {
      let subtree = graph.runtime.info(key.entity).entity.subtree
      for list in [graph.changed, graph.inserted] {
        for object in list where object.isAlive && subtree.contains(type(of: object)._entity) {
          if let number = numbers[try presentValues(of: object)], object.isAlive { try body(number, object) }
        }
      }
    }
  }

  /// The objects that have the values in the store and were not edited here.
  private func stored() throws -> [(Int, ManagedObject)] {
    var found: [(Int, ManagedObject)] = []
    let batch = FetchBatch()
    let number = graph.batches.add(batch, keeping: graph.map)
    try graph.connection(reading: key.entity).holders(of: key, values: values, in: graph.runtime.model) { index, row in
      let object = try graph.object(of: row, batch: number)
      batch.append(row.key)
      if object.phase == .persistent && !object.isInChangedList { found.append((index, object)) }
    }
    if found.count < 2 { graph.batches.remove(number) }
    // A reference that was left to an object that is gone reads as nil.
    guard references.contains(where: { $0?.isLeftAlone == true }) else { return found }
    return try graph.evaluating { try found.filter { numbers[try presentValues(of: $0.1)] == $0.0 } }
  }

  private func presentValues(of object: ManagedObject) throws -> KeyValues {
    try graph.fulfilIfFault(object)
    if references.count == 1 && references[0] == nil { return KeyValues(object._value(key.properties[0])) }
    let queried = QueriedObject(object, graph)
    return KeyValues(try key.properties.map(queried.queryValue))
  }
}
