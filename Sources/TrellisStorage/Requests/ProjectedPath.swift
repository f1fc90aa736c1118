public import TrellisQuery

/// A value that a fetch reads from each result instead of the whole row: an attribute, a to-one, or the object's key.
public struct ProjectedPath: Hashable, Sendable {
  public var path: PropertyPath
  public var kind: ValueKind

  public init(_ path: PropertyPath, kind: ValueKind) {
    self.path = path
    self.kind = kind
  }
}
