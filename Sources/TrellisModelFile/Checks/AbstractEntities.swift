/// Checks that each abstract entity has a concrete descendant.
enum AbstractEntities {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    var hasObjects = draft.entities.map { !($0.isAbstract?.value ?? false) }
    for (number, entity) in draft.entities.enumerated() where !(draft.entities[number].isAbstract?.value ?? false) {
      for ancestor in entity.ancestors { hasObjects[ancestor] = true }
    }
    for (number, entity) in draft.entities.enumerated() where !hasObjects[number] {
      findings.warning(
        .abstractWithoutChildren, at: entity.isAbstract?.offset ?? entity.name.offset,
        "Entity '\(entity.name.value)' is abstract and no other entity is its child, so there can be no objects of it; "
          + "declare a child, or take out \"abstract\".")
    }
  }
}
