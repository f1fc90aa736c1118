import TrellisModel

extension ObjectRules {
  /// Checks a new or changed object against its model and by its hook.
  mutating func checkAll(_ object: ManagedObject, _ hook: LifecycleHook) throws {
    try check(object, graph.info(of: object))
    callValidationHook(hook, of: object)
  }

  /// Checks an object of which only to-manys have changed against its model and by its hook.
  mutating func checkLinks(_ object: ManagedObject, _ hook: LifecycleHook) throws {
    try checkRelationships(of: object)
    callValidationHook(hook, of: object)
  }

  /// Runs a validation hook and adds its failures.
  mutating func callValidationHook(_ hook: LifecycleHook, of object: ManagedObject) {
    guard graph.runtime.hooks.contains(hook), graph.info(of: object).hooks.contains(hook) else { return }
    var found = HookFailures()
    graph.run(hook, of: object) {
      switch hook {
      case .validateInsert: object._validateInsert(&found)
      case .validateUpdate: object._validateUpdate(&found)
      case .validateDelete: object._validateDelete(&found)
      default: break
      }
    }
    for error in found.errors { addFailures(error, object) }
  }

  private mutating func addFailures(_ error: any Error, _ object: ManagedObject) {
    switch error {
    case let failure as ValidationFailure: add(failure)
    case let error as ValidationError: for failure in error.failures { add(failure) }
    default: fail(object, "", .custom, "\(error)")
    }
  }
}

extension ValidationFailure {
  /// Creates the error for a hook to throw if an object breaks a custom rule.
  ///
  /// ```swift
  /// extension Entry {
  ///   static func validateUpdate(_ entry: Entry) throws {
  ///     guard entry.category?.kind != entry.kind else { return }
  ///     throw ValidationFailure(entry, \.category, "must belong to the entry's kind")
  ///   }
  /// }
  /// ```
  /// To report several failures, throw a ``ValidationError`` that contains all of them.
  ///
  /// - Parameters:
  ///   - object: The object that breaks the rule.
  ///   - property: The property that the rule concerns.
  ///   - message: The rule in words that can follow the property's name.
  public init<Object: ManagedObject, Value>(
    _ object: Object, _ property: KeyPath<Object, Value>, _ message: String
  ) {
    let info = object.link.graph?.info(of: object)
    let number = object.numbers(of: property).first
    let properties = info?.entity.properties ?? []
    let name = number.flatMap { properties.indices.contains($0) ? properties[$0].name : nil } ?? ""
    self.init(AnyObjectID(object), property: name, rule: .custom, message: message)
  }

  /// Creates the error for a hook to throw if an object as a whole breaks a custom rule.
  public init(_ object: ManagedObject, _ message: String) {
    self.init(AnyObjectID(object), property: "", rule: .custom, message: message)
  }
}
