import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// A property whose value can be fetched alone: an attribute, or a to-one, of which the object's identity is.
public protocol ValueToken: Sendable {
  /// What is fetched.
  associatedtype Value: AttributeValue
  @_spi(Generated) var _projection: ProjectedPath { get }
}

extension AttributePath: ValueToken {
  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: Value.valueKind) }

  /// The attribute as one that may be nil: what a path through a to-one is where there is no object at its other end.
  ///
  /// ```swift
  /// let days = try context.values(of: DiaryImage.all) { ($0.imagePath, $0.diary.createdAt.optional) }
  /// ```
  public var optional: AttributePath<Value?> { AttributePath<Value?>(path: path) }
}

extension ToOnePath: ValueToken {
  public typealias Value = ObjectID<Columns.Object>?
  @_spi(Generated) public var _projection: ProjectedPath { ProjectedPath(path, kind: .integer) }
}
