import TrellisQuery
public import TrellisStorage

extension FetchRequest {
  /// The request with a predicate in a format string, which must hold too.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.where("images.@count > %d", 3)
  /// ```
  /// The format is read by the fetch, which throws ``PredicateFormatError`` when something is wrong with it.
  ///
  /// - Parameter arguments: the values of `%@` and its like, in order; interpolations are not among them.
  public func `where`(_ format: PredicateFormat, _ arguments: any PredicateArgument...) -> FetchRequest {
    self.where(format, arguments: arguments)
  }

  /// As ``where(_:_:)``, with the arguments as a list.
  public func `where`(_ format: PredicateFormat, arguments: [any PredicateArgument]) -> FetchRequest {
    self.where(ConditionTree(format.with(arguments)))
  }

  /// The request for what it is for already, and for the objects for which all of these conditions hold.
  ///
  /// ```swift
  /// let request = EmotionDiary.where("mood BEGINSWITH[c] %@", "sun").or { $0.emotion == .happy }
  /// ```
  /// All that was said before is one side of the `or`; what is said after it must hold beside it. A request without
  /// conditions is for every object, and stays so.
  public func or(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    or(conditions(Columns(PropertyPath(variable: 0))).tree)
  }

  /// The request for what it is for already, and for the objects for which a predicate in a format string holds.
  ///
  /// ```swift
  /// let request = EmotionDiary.where { $0.emotion == .happy }.or("images.@count > %d", 3)
  /// ```
  /// The format is read by the fetch, which throws ``PredicateFormatError`` when something is wrong with it.
  ///
  /// - Parameter arguments: the values of `%@` and its like, in order; interpolations are not among them.
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
