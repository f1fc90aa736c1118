public import TrellisStorage
import TrellisQuery

/// The number of members of a to-many relationship, as a value to fetch and as a sort key.
extension CountPath: ValueToken {
  /// The type of a count.
  public typealias Value = Int64

  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: .integer) }

  /// Objects with the fewest members first.
  ///
  /// ```swift
  /// EmotionDiary.all.sorted { $0.images.count.descending }
  /// ```
  public var ascending: SortTerm { SortTerm(SortKey(path, kind: .integer)) }

  /// Objects with the most members first.
  public var descending: SortTerm { SortTerm(SortKey(path, descending: true, kind: .integer)) }
}
