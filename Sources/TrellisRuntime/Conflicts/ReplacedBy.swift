extension IdentifiedObject {
  /// The object that replaces this one, because a save has found that object in the store with the same unique key, or
  /// has inserted it with that key in the same save. Nil for every other object.
  ///
  /// ```swift
  /// let tag = Tag(in: context, name: "비")
  /// try context.save(mergePolicy: .objectTrump)
  /// let kept = try tag.replacedBy.flatMap { try context.object(with: $0) } ?? tag
  /// ```
  /// A replaced object belongs to no context any more. Its values stay readable.
  public var replacedBy: ObjectID<Self>? { ObjectID(optional: extras?.replacement ?? 0) }
}
