import TrellisQuery
public import TrellisStorage

/// A condition of a request with formats in it, which are read when a context, and with it the model, is known.
indirect enum UnreadCondition: Sendable {
  case format(PredicateFormat)
  case read(QueryPredicate)
  /// All of the first hold, or the second does.
  case either([UnreadCondition], UnreadCondition)

  /// - Throws: ``PredicateFormatError``.
  func predicate(of entity: Int, in runtime: RuntimeModel) throws(PredicateFormatError) -> QueryPredicate {
    switch self {
    case .read(let predicate): return predicate
    case .format(let format): return try format.predicate(of: entity, in: runtime)
    case .either(let terms, let other):
      let all = try Self.predicate(of: terms, entity, in: runtime)
      return .or([all, try other.predicate(of: entity, in: runtime)])
    }
  }

  static func predicate(
    of terms: [UnreadCondition], _ entity: Int, in runtime: RuntimeModel
  ) throws(PredicateFormatError) -> QueryPredicate {
    var read: [QueryPredicate] = []
    for term in terms { read.append(try term.predicate(of: entity, in: runtime)) }
    return read.count == 1 ? read[0] : .and(read)
  }
}

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
    var refined = self
    refined.unread.append(.format(format.with(arguments)))
    return refined
  }

  /// The request for what it is for already, and for the objects for which all of these conditions hold.
  ///
  /// ```swift
  /// let request = EmotionDiary.where("mood BEGINSWITH[c] %@", "sun").or { $0.emotion == .happy }
  /// ```
  /// All that was said before is one side of the `or`; what is said after it must hold beside it. A request without
  /// conditions is for every object, and stays so.
  public func or(@ConditionBuilder _ conditions: (Columns) -> QueryCondition) -> FetchRequest {
    or(.read(conditions(Columns(PropertyPath(variable: 0))).predicate))
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
    or(.format(format.with(arguments)))
  }

  private func or(_ condition: UnreadCondition) -> FetchRequest {
    let terms = (predicate.map { [.read($0)] } ?? []) + unread
    guard !terms.isEmpty else { return self }
    var refined = self
    if case .read(let added) = condition, unread.isEmpty, let predicate {
      refined.predicate = .or([predicate, added])
    } else {
      refined.predicate = nil
      refined.unread = [.either(terms, condition)]
    }
    return refined
  }

  /// The request as stores understand it, its formats read.
  ///
  /// - Throws: ``PredicateFormatError``.
  func storeRequest(in context: ManagedObjectContext) throws(PredicateFormatError) -> StoreRequest {
    guard !unread.isEmpty else { return typedStoreRequest }
    var request = typedStoreRequest
    let terms = (request.predicate.map { [.read($0)] } ?? []) + unread
    request.predicate = try UnreadCondition.predicate(of: terms, request.entity, in: context.runtime)
    return request
  }
}
