extension IdentifiedObject {
  /// The object that stands for this one, since a save has found it in the store with the same unique key, or made it under
  /// that key in the same save; nil for every other object.
  ///
  /// ```swift
  /// let tag = Tag(in: context, name: "비")
  /// try context.save(mergePolicy: .objectTrump)
  /// let kept = try tag.replacedBy.flatMap { try context.object(with: $0) } ?? tag
  /// ```
  /// An object that was replaced is of no context any more. Its values stay readable.
  public var replacedBy: ObjectID<Self>? { ObjectID(optional: extras?.replacement ?? 0) }
}
