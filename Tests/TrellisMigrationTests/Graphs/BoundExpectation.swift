import TrellisModel

@testable import TrellisStorage

/// The rows of a migrated store that break rules of its model, computed from what the store holds.
struct BoundExpectation {
  let graph: PlainGraph
  let current: PlainModel
  let contents: StoreContents

  init(_ graph: PlainGraph, _ current: PlainModel, _ contents: StoreContents) {
    self.graph = graph
    self.current = current
    self.contents = contents
  }

  /// The warnings of a plan that tell more rows than break a rule, or fewer than those that kept the rules before.
  func faults(of plan: MigrationPlan) -> [String] {
    var told: [String: Int] = [:]
    for step in plan.steps { if case .warns(let rows) = step.risk { told[step.subject] = rows ?? -1 } }
    var faults: [String] = []
    for entity in current.entities {
      let names = Set(current.subtree(entity.id).map { current[$0].name })
      let rows = contents.rows.filter { names.contains($0.value.entity) }
      for property in entity.properties where !property.isTransient {
        let subject = "\(entity.name).\(property.name)"
        let breaking = rows.keys.filter { breaks(property, $0) }
        let new = breaking.filter { !brokeBefore(property, $0) }
        let count = told.removeValue(forKey: subject) ?? 0
        if count < new.count || count > breaking.count {
          faults.append(
            "\(subject): \(count) rows are told to break it, of \(breaking.count), \(new.count) of them new")
        }
      }
    }
    return faults + told.keys.sorted().map { "\($0) is told, and is not there" }
  }

  private func breaks(_ property: PlainProperty, _ key: Int64) -> Bool {
    if let attribute = property.attribute {
      guard let value = contents.rows[key]?.values[property.name], !value.isNull else { return false }
      return PlainValues.breaks(value, attribute.rules)
    }
    guard let link = property.link else { return false }
    let first = current.firstEnd(property)
    let name = "\(current.owner(first.id).map { current[$0].name } ?? "").\(first.name)"
    let isFirst = first.id == property.id
    return !link.allows((contents.links[name] ?? []).count { (isFirst ? $0.owner : $0.partner) == key })
  }

  /// The stored properties that one continues. A new end of a stored relationship continues the former end.
  private func origins(of property: PlainProperty) -> [Int] {
    guard property.origins.isEmpty, let inverse = property.link?.inverse.flatMap({ current.property($0) }) else {
      return property.origins
    }
    return inverse.origins.compactMap { graph.model.property($0)?.link?.inverse }
  }

  private func brokeBefore(_ property: PlainProperty, _ key: Int64) -> Bool {
    guard let row = graph.rows[key] else { return false }
    let origins = origins(of: property)
    let before = graph.model.properties(row.entity).filter { origins.contains($0.id) }
    return before.contains { old in
      if let attribute = old.attribute {
        return row.values[old.id].map { PlainValues.breaks($0, attribute.rules) } ?? false
      }
      guard let link = old.link, !old.isTransient else { return false }
      // A reference to nothing is kept only as long as its row has it.
      let partners = graph.pairs(of: old).filter { $0.owner == key }
      return !link.allows(partners.count) || partners.contains { graph.rows[$0.partner] == nil }
    }
  }
}
