/// A relationship as declared in the model file.
public struct RelationshipDescription: Hashable, Sendable {
  public var name: String
  public var destination: String
  public var inverse: String?
  public var deleteRule: DeleteRule
  public var isToMany: Bool
  public var isOrdered: Bool
  public var minimumCount: Int?
  public var maximumCount: Int?
  public var isOptional: Bool
  public var isTransient: Bool
  /// The name of the Swift property, if it differs from ``name``.
  public var swiftName: String?
  public var renamedFrom: String?
  public var doc: String?
  public var userInfo: [UserInfoEntry]

  public init(
    _ name: String, to destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify,
    toMany: Bool = false, ordered: Bool = false, minCount: Int? = nil, maxCount: Int? = nil, optional: Bool = false,
    transient: Bool = false, swiftName: String? = nil, renamedFrom: String? = nil, doc: String? = nil,
    userInfo: [UserInfoEntry] = []
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.deleteRule = deleteRule
    isToMany = toMany
    isOrdered = ordered
    minimumCount = minCount
    maximumCount = maxCount
    isOptional = optional
    isTransient = transient
    self.swiftName = swiftName
    self.renamedFrom = renamedFrom
    self.doc = doc
    self.userInfo = userInfo
  }
}

/// The effect of an object's deletion on the objects at the other end.
public enum DeleteRule: String, Hashable, Sendable, CaseIterable {
  /// Removes the reference to the deleted object.
  case nullify
  /// Deletes them as well.
  case cascade
  /// Refuses the delete on save while there are any.
  case deny
  /// Leaves their reference in place. It reads nil from then on.
  case noAction
}
