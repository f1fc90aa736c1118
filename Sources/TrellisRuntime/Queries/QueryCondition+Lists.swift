import TrellisQuery

/// Conjunctions and disjunctions of a number of conditions that is known only at run time.
extension QueryCondition {
  /// Whether at least one of the conditions holds; false for no conditions.
  ///
  /// ```swift
  /// let words = ["coffee", "tea"]
  /// let request = EmotionDiary.where { diary in
  ///   QueryCondition.any(of: words.map { diary.content.contains($0) })
  /// }
  /// ```
  public static func any(of conditions: some Sequence<QueryCondition>) -> QueryCondition {
    joined(conditions, .or) ?? QueryCondition(.constant(false))
  }

  /// Whether all of the conditions hold; true for no conditions.
  public static func all(of conditions: some Sequence<QueryCondition>) -> QueryCondition {
    joined(conditions, .and) ?? QueryCondition(.constant(true))
  }

  private static func joined(_ conditions: some Sequence<QueryCondition>, _ kind: ConditionChain.Kind)
    -> QueryCondition?
  {
    var tree: ConditionTree?
    for condition in conditions { tree = tree?.joined(kind, condition.tree) ?? condition.tree }
    return tree.map { QueryCondition($0) }
  }
}
