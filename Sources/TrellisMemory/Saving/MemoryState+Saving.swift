package import TrellisStorage

extension MemoryState {
  /// The state after a save, checked against every rule. This value itself does not change.
  ///
  /// - Throws: ``SaveConflict``, ``ConstraintViolations`` or ``StoreError``.
  package func saving(_ draft: SaveDraft, _ layout: Layout) throws -> (state: MemoryState, outcome: SaveOutcome) {
    let plan = try SavePlan(draft, self, layout)
    var next = self
    plan.apply(to: &next, layout)
    if !draft.counts.isEmpty || !draft.denials.isEmpty {
      try RulesCheck.run(draft, Snapshot(self, layout), Snapshot(next, layout))
    }
    return (next, SaveOutcome(cascaded: plan.cascaded))
  }
}
