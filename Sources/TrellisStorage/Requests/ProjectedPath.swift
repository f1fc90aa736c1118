public import TrellisQuery

/// A value that is read of each result instead of the whole row: of an attribute, a to-one or the object's key.
public struct ProjectedPath: Hashable, Sendable {
  public var path: PropertyPath
  public var kind: ValueKind

  public init(_ path: PropertyPath, kind: ValueKind) {
    self.path = path
    self.kind = kind
  }
}
