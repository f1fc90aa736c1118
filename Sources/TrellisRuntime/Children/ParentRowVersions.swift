import TrellisStorage

/// The rows of a parent's objects as its child last saw them. Each has a version that grows when the row has become another
/// one, however that has come about: the parent's saves alone are no change.
struct ParentRowVersions {
  private var rows: [Int64: (row: RowCopyBase, version: Int64)] = [:]

  /// Whether the child has ever seen an object in its parent.
  func contains(_ key: Int64) -> Bool { rows[key] != nil }

  /// The version of an object's row as it is now.
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

  /// What the object holds now is known to the child under a version.
  mutating func note(_ object: ManagedObject, version: Int64) {
    rows[object._key] = (object._copyRow(), version)
  }
}
