import TrellisSchema

/// Checks that fetch requests sort by attributes with an order, their own or at the end of to-one relationships, and
/// that they prefetch relationships.
enum FetchRequests {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let lookup = PropertyLookup(draft: draft, findings: findings)
    for (number, entity) in draft.entities.enumerated() {
      for request in entity.fetchRequests {
        checkName(request, of: number, draft, findings)
        let user = "The sort of fetch request '\(entity.name.value).\(request.name.value)'"
        for key in request.sort { check(key, of: number, user: user, lookup) }
        let prefetch = "The prefetch of fetch request '\(entity.name.value).\(request.name.value)'"
        for path in request.prefetch { checkPrefetch(path, of: number, user: prefetch, lookup) }
      }
    }
  }

  /// Checks the name of a request: a class inherits the functions of its parents, and one of the same name would hide
  /// theirs.
  private static func checkName(
    _ request: FetchRequestDraft, of entity: Int, _ draft: Draft, _ findings: Findings
  ) {
    let name = request.name.value
    for ancestor in draft.entities[entity].ancestors {
      guard let first = draft.entities[ancestor].fetchRequests.first(where: { $0.name.value == name }) else { continue }
      return findings.error(
        .nameClash, at: request.name.offset,
        "Fetch request '\(draft.path(entity, name))' has the name of '\(draft.path(ancestor, name))', which it inherits; "
          + "choose another name.", notes: [("'\(draft.path(ancestor, name))' is here", first.name.offset)])
    }
  }

  private static func checkPrefetch(
    _ path: Located<String>, of entity: Int, user: String, _ lookup: PropertyLookup
  ) {
    var current = entity
    for step in path.value.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let found = lookup.property(step, of: current, user: user, at: path.offset) else { return }
      guard case .relationship(let index) = found.place else {
        return lookup.findings.error(
          .badPrefetch, at: path.offset,
          "\(user) names '\(lookup.draft.path(found.entity, step))', which is an attribute; name a relationship, or a path "
            + "through relationships.")
      }
      let relationship = lookup.draft.entities[found.entity].relationships[index]
      if relationship.description.isTransient {
        return lookup.findings.error(
          .badPrefetch, at: path.offset,
          "\(user) names '\(lookup.draft.path(found.entity, step))', which is transient, so no store can load it; take it out."
        )
      }
      current = relationship.destination
    }
  }

  private static func check(_ key: Located<String>, of entity: Int, user: String, _ lookup: PropertyLookup) {
    let steps = key.value.withoutSign.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var current = entity
    for (place, step) in steps.enumerated() {
      guard let found = lookup.property(step, of: current, user: user, at: key.offset) else { return }
      let isLast = place == steps.count - 1
      switch found.place {
      case .attribute(let index):
        let attribute = lookup.draft.entities[found.entity].attributes[index]
        let path = lookup.draft.path(found.entity, step)
        guard isLast else {
          return report(key, user, "goes on behind '\(path)', which is an attribute", lookup)
        }
        guard attribute.description.type.canSort else {
          return report(
            key, user, "names '\(path)', whose type '\(attribute.description.type.spelling)' has no order", lookup)
        }
        lookup.requireColumn(found, user: user, at: key.offset)
      case .relationship(let index):
        let relationship = lookup.draft.entities[found.entity].relationships[index]
        let path = lookup.draft.path(found.entity, step)
        if relationship.description.isToMany {
          return report(key, user, "leads through '\(path)', which is a to-many", lookup)
        }
        if isLast { return report(key, user, "ends with '\(path)', which is a relationship", lookup) }
        current = relationship.destination
      }
    }
  }

  private static func report(_ key: Located<String>, _ user: String, _ fault: String, _ lookup: PropertyLookup) {
    lookup.findings.error(
      .badSort, at: key.offset, "\(user) \(fault); name an attribute, or a path through to-one relationships to one.")
  }
}

extension AttributeType {
  fileprivate var canSort: Bool {
    switch self {
    case .array, .codable, .data: false
    default: true
    }
  }
}
