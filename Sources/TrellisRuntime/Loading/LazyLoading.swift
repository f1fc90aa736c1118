import TrellisQuery

/// The rule for using a relationship that was not loaded with its object.
///
/// Lazy loads include the siblings, so a loop costs a few statements. A context can also forbid lazy loads:
///
/// ```swift
/// context.lazyLoading = .forbidden
/// for image in try context.fetch(DiaryImage.all) { print(image.diary?.content ?? "") }
/// try context.save()   // throws: DiaryImage.diary was loaded when it was used … fetch with .prefetching { $0.diary }
/// ```
public enum LazyLoading: UInt8, Sendable, Comparable {
  /// The relationship is loaded, together with those of the siblings.
  case allowed
  /// The relationship is loaded, and the container's error handler is called.
  case reported
  /// The relationship is loaded, the error handler is called, and the next fetch or save of the context throws the same
  /// error.
  case forbidden

  public static func < (left: LazyLoading, right: LazyLoading) -> Bool { left.rawValue < right.rawValue }
}

extension PersistentContainer {
  /// Runs a closure with a new context that forbids lazy loads, for tests that fail on any lazy load.
  ///
  /// ```swift
  /// @Test func feed() throws {
  ///   try container.withoutLazyLoading { context in _ = try makeFeed(context) }
  /// }
  /// ```
  /// - Throws: what `body` throws; ``ContextError`` with the code `lazy-load` if a relationship was lazily loaded.
  public func withoutLazyLoading<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = ManagedObjectContext(core: core)
    context.lazyLoading = .forbidden
    let result = try body(context)
    try context.throwPendingFailure()
    return result
  }
}

extension ManagedObjectContext {
  /// Reports that a relationship of an object is about to be lazily loaded, if the rule demands it.
  @inline(never) func noteLazyLoad(of object: ManagedObject, _ relationship: RelationshipInfo) {
    let batch = batches[object.batch]
    let rule = max(lazyLoading, batch?.lazyLoading ?? .allowed)
    guard rule != .allowed, object.phase == .persistent, runningHook == nil, !isEvaluating else { return }
    let problem = ContextError(.lazyLoad, message(object, relationship, batch))
    if rule == .forbidden { reportToThrow(problem) } else { report(problem) }
  }

  private func message(_ object: ManagedObject, _ relationship: RelationshipInfo, _ batch: FetchBatch?) -> String {
    let siblings = max(0, (batch?.keys.count ?? 1) - 1)
    let others = siblings == 0 ? "" : ", which came with \(siblings) \(siblings == 1 ? "sibling" : "siblings")"
    let (entity, path) = origin(of: object, relationship)
    return "\(relationship.entityName).\(relationship.name) was loaded when it was used, of an object\(others); "
      + "fetch \(entity) with \(Self.prefetch(path))."
  }

  /// The fetched entity, and the path from there to a relationship of an object that was loaded as a result.
  private func origin(of object: ManagedObject, _ relationship: RelationshipInfo) -> (String, [RelationshipInfo]) {
    var path = [relationship]
    var batch = batches[object.batch]
    // Longer paths than this are cycles.
    while let step = batch?.cameBy, path.count < 8 {
      path.insert(step.relationship, at: 0)
      batch = batches[step.batch]
    }
    let first = path[0]
    return (path.count == 1 ? info(of: object).name : first.entityName, path)
  }

  /// The modifier of a request that prefetches a path.
  private static func prefetch(_ path: [RelationshipInfo]) -> String {
    var parts: [[String]] = [[]]
    for step in path {
      parts[parts.count - 1].append(step.name)
      if step.isToMany && step !== path.last { parts.append([]) }
    }
    let closures = parts.map { "{ $0.\($0.joined(separator: ".")) }" }
    guard closures.count > 1 else { return ".prefetching \(closures[0])" }
    return ".prefetching(\(closures[0]), then: \(closures.dropFirst().joined(separator: ", then: ")))"
  }
}
