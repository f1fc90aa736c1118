/// The rows of one hierarchy: their primary keys in rising order, with the entity and the key in the copy of each.
struct RowIndex {
  /// The table; nil if the store has none.
  let table: String?
  private(set) var primaryKeys: [Int64] = []
  /// The number of each row's entity in the model; -1 for a row that is not copied.
  private(set) var entities: [Int32] = []
  /// The number of each row's entity, that of a row which is left out included.
  private(set) var originalEntities: [Int32] = []
  private(set) var keys: [Int64] = []

  init(table: String?) { self.table = table }

  var count: Int { primaryKeys.count }

  mutating func append(_ primaryKey: Int64, entity: Int) {
    primaryKeys.append(primaryKey)
    entities.append(Int32(truncatingIfNeeded: entity))
    originalEntities.append(Int32(truncatingIfNeeded: entity))
    keys.append(0)
  }

  mutating func setKey(_ key: Int64, at place: Int) { keys[place] = key }

  /// Leaves a row out of the copy.
  mutating func exclude(_ place: Int) { entities[place] = -1 }

  func isIncluded(_ place: Int) -> Bool { entities[place] >= 0 }

  /// The place of a row; nil if there is no row with this primary key.
  func place(of primaryKey: Int64) -> Int? {
    var (low, high) = (0, primaryKeys.count)
    while low < high {
      let middle = (low + high) / 2
      if primaryKeys[middle] < primaryKey { low = middle + 1 } else { high = middle }
    }
    return low < primaryKeys.count && primaryKeys[low] == primaryKey ? low : nil
  }
}
