import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// A property with a value that can be fetched without its object: an attribute, a to-one relationship, which is
/// fetched as the identifier of its object, or the number of members of a to-many relationship.
public protocol ValueToken: Sendable {
  /// The type of the fetched value.
  associatedtype Value: AttributeValue
  @_spi(Generated) var _projection: ProjectedPath { get }
}

extension AttributePath: ValueToken {
  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: Value.valueKind) }

  /// The attribute as an optional one, for a path through a to-one relationship that may be nil.
  ///
  /// ```swift
  /// let days = try context.values(of: DiaryImage.all) { ($0.imagePath, $0.diary.createdAt.optional) }
  /// ```
  public var optional: AttributePath<Value?> { AttributePath<Value?>(path: path) }
}

extension ToOnePath: ValueToken {
  /// The identifier of the object; nil if the relationship is nil.
  public typealias Value = ObjectID<Columns.Object>?
  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: .integer) }
}
