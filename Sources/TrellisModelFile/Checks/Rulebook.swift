/// The checks in their order. Each check relies only on earlier ones. After a stage with errors the checking stops,
/// because later stages would only report the same errors in other words.
enum Rulebook {
  typealias Pass = @Sendable (inout Draft, Findings) -> Void

  static let stages: [[Pass]] = [
    // Names, and parents of entities.
    [Names.check, NameClashes.check, EnumCases.check, Parents.check],
    // The type or destination of each property.
    [Redeclarations.check, AttributeTypes.check, Destinations.check],
    // Consistency of properties with each other and with their own rules.
    [Inverses.check, AttributeRulesCheck.check, Defaults.check, AbstractEntities.check],
    // Checks that rely on matching inverses.
    [RelationshipShapes.check, DeleteRules.check, KeysAndIndexes.check, FetchRequests.check, FetchPredicates.check],
  ]

  /// The checks that a stored model must pass, whatever the rules were when it was written.
  static let stored: [Pass] = [Parents.check, AttributeTypes.check, Destinations.check, Inverses.check]

  /// Runs the checks; returns whether the model passes all of them.
  static func check(_ draft: inout Draft, _ findings: Findings) -> Bool {
    for stage in stages {
      for pass in stage { pass(&draft, findings) }
      guard findings.errorCount == 0 else { return false }
    }
    return true
  }
}
