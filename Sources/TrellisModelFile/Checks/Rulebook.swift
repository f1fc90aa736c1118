/// The checks in their order. Each uses only what earlier ones established; after a stage with errors nothing follows,
/// because later stages would only repeat its errors in other words.
enum Rulebook {
  typealias Pass = @Sendable (inout Draft, Findings) -> Void

  static let stages: [[Pass]] = [
    // What things are called, and which entity comes from which.
    [Names.check, NameClashes.check, EnumCases.check, Parents.check],
    // What each property is.
    [Redeclarations.check, AttributeTypes.check, Destinations.check],
    // How properties fit each other and their own rules.
    [Inverses.check, AttributeRulesCheck.check, Defaults.check, AbstractEntities.check],
    // What rests on relationships that match.
    [RelationshipShapes.check, DeleteRules.check, KeysAndIndexes.check, FetchRequests.check, FetchPredicates.check],
  ]

  /// What a model must be that a store carries, whatever the rules were under which it was written.
  static let stored: [Pass] = [Parents.check, AttributeTypes.check, Destinations.check, Inverses.check]

  /// Whether the model passes every check.
  static func check(_ draft: inout Draft, _ findings: Findings) -> Bool {
    for stage in stages {
      for pass in stage { pass(&draft, findings) }
      guard findings.errorCount == 0 else { return false }
    }
    return true
  }
}
