import TrellisQuery
public import TrellisStorage

extension FetchRequest {
  /// The request with an additional predicate in a format string, which must hold as well.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.where("images.@count > %d", 3)
  /// ```
  /// The fetch parses the format, and throws ``PredicateFormatError`` if it is invalid.
  ///
  /// - Parameter arguments: the values of `%@` and other placeholders, in order, without the interpolations.
  public func `where`(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    self.where(format, arguments: arguments)
  }

  /// The same as ``where(_:_:)``, with the arguments as an array.
  public func `where`(_ format: PredicateFormat, arguments: [any PredicateArgument]) -> FetchRequest {
    self.where(ConditionTree(format.with(arguments)))
  }

  /// The request for the objects that match it already, and for those that satisfy all of these conditions.
  ///
  /// ```swift
  /// let request = EmotionDiary.where("mood BEGINSWITH[c] %@", "sun").or { $0.emotion == .happy }
  /// ```
  /// All conditions so far form one side of the `or`. Conditions that are added later apply to both sides. A request
  /// without conditions matches every object and stays unchanged.
  public func or(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    or(conditions(Columns(PropertyPath(variable: 0))).tree)
  }

  /// The request for the objects that match it already, and for those that satisfy a predicate in a format string.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.or("images.@count > %d", 3)
  /// ```
  /// The fetch parses the format, and throws ``PredicateFormatError`` if it is invalid.
  ///
  /// - Parameter arguments: the values of `%@` and other placeholders, in order, without the interpolations.
  public func or(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    or(ConditionTree(format.with(arguments)))
  }

  private func or(_ added: ConditionTree) -> FetchRequest {
    guard let condition else { return self }
    var refined = self
    refined.condition = condition.joined(.or, added)
    return refined
  }
}
