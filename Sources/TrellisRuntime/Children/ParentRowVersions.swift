import TrellisStorage

/// The rows of a parent's objects as the child last read them. The version of a row grows whenever its values differ,
/// for whatever reason. A save of the parent alone does not change it.
struct ParentRowVersions {
  private var rows: [Int64: (row: RowCopyBase, version: Int64)] = [:]

  /// Whether the child has ever read the parent's object with a key.
  func contains(_ key: Int64) -> Bool { rows[key] != nil }

  /// The version of an object's present row.
  ///
  /// - Complexity: linear in the number of properties.
  mutating func version(of object: ManagedObject, _ info: EntityInfo) -> Int64 {
    object._willRead(-1)
    guard let (row, version) = rows[object._key] else {
      note(object, version: 1)
      return 1
    }
    var differences: [Int] = []
    object.collectDifferences(from: row, among: .max, info, into: &differences)
    guard !differences.isEmpty else { return version }
    note(object, version: version + 1)
    return version + 1
  }

  /// Stores the present row of an object under a version.
  mutating func note(_ object: ManagedObject, version: Int64) {
    rows[object._key] = (object._copyRow(), version)
  }
}
