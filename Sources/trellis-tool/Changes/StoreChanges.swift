import TrellisModel
import TrellisStorage

/// What changes for programs with the former model on the same store, and in the store beyond the plan of a migration.
extension ModelComparison {
  mutating func addRolloutChanges() {
    let obstacles = Expansion(Migration(match)).obstacles
    for obstacle in obstacles { add(.rollout, .breaking, "not-additive", obstacle.subject, obstacle.reason) }
    if obstacles.isEmpty, old.description != new.description {
      add(.rollout, .safe, "additive", new.name, "programs with the former model can go on")
    }
    for enumeration in old.description.enums {
      guard let other = new.enumeration(named: enumeration.name) else { continue }
      let known = Set(enumeration.cases.map(\.rawValue))
      for current in other.cases where !known.contains(current.rawValue) {
        let subject = "\(enumeration.name).\(current.name)"
        switch enumeration.unknown {
        case .preserve:
          add(.rollout, .safe, "case-added", subject, "is kept as unknown by programs with the former model")
        case .useDefault(let name):
          add(.rollout, .aware, "case-added", subject, "is \(name) for programs with the former model")
        case .reject:
          add(.rollout, .breaking, "case-added", subject, "cannot be read by programs with the former model")
        }
      }
    }
    for (entity, successor) in entities {
      for case (.attribute(let former), .attribute(let current)?) in properties(entity, successor)
      where former.type == current.type {
        let subject = "\(entity.name).\(former.name)"
        let (before, after) = (former.description.rules, current.description.rules)
        if !after.tightened(since: before, current.type).isEmpty {
          add(
            .rollout, .aware, "rules-tightened", subject,
            "programs with the former model may save values that break a rule")
        }
        if !before.tightened(since: after, current.type).isEmpty {
          add(
            .rollout, .aware, "rules-loosened", subject,
            "programs with the former model cannot save objects with the values that are allowed now")
        }
      }
    }
    for (name, version) in new.description.codableVersions.sorted(by: { $0.key < $1.key }) {
      let former = old.description.codableVersions[name] ?? 1
      guard former != version, old.description.codableTypes.contains(name) else { continue }
      add(
        .rollout, .aware, "struct-version", name,
        "programs with the former model have to read values of version \(version)")
    }
  }

  /// Indexes, full-text search, derived attributes and the history, of which no stored value knows.
  mutating func addStoreChanges() {
    for (entity, successor) in entities {
      let indexes = [indexes(of: entity, old, isFormer: true), indexes(of: successor, new, isFormer: false)]
      for index in indexes[1].filter({ !indexes[0].contains($0) }) {
        add(.store, .safe, "index-added", successor.name, "a new index on \(index), which an opening makes")
      }
      for index in indexes[0].filter({ !indexes[1].contains($0) }) {
        add(.store, .safe, "index-removed", successor.name, "no index on \(index) any more")
      }
      for case (.attribute(let former), .attribute(let current)?) in properties(entity, successor) {
        addStoreChanges("\(successor.name).\(current.name)", former.description, current.description)
      }
      for case .attribute(let attribute) in additions(entity, successor) {
        let subject = "\(successor.name).\(attribute.name)"
        if attribute.description.isSearchable { addSearch(subject) }
        if let derivation = attribute.description.derivation {
          add(
            .store, .safe, "derived-added", subject,
            "a new derived attribute: \(derivation)\(Self.stored(attribute.description))")
        }
      }
      for (property, heir) in properties(entity, successor) where heir == nil {
        if property.attribute?.description.derivation != nil {
          add(.store, .safe, "derived-removed", "\(successor.name).\(property.name)", "a derived attribute less")
        }
      }
      let history = [old.history(of: entity.index), new.history(of: successor.index)]
      if history[0] != history[1] {
        add(.store, .aware, "history-changed", successor.name, "the store records other changes")
      }
    }
  }

  private mutating func addStoreChanges(
    _ subject: String, _ former: AttributeDescription, _ current: AttributeDescription
  ) {
    if !former.isSearchable && current.isSearchable { addSearch(subject) }
    if former.isSearchable && !current.isSearchable {
      add(.store, .aware, "search-removed", subject, "not in the full-text index any more")
    }
    if let derivation = current.derivation, former.derivation != derivation {
      add(.store, .aware, "derived-changed", subject, "is computed as \(derivation)\(Self.stored(current))")
    } else if former.storesDerivation != current.storesDerivation {
      add(
        .store, .safe, "derived-stored", subject,
        current.storesDerivation ? "is stored, and the first opening computes all values" : "is not stored any more")
    }
  }

  private mutating func addSearch(_ subject: String) {
    add(.store, .safe, "search-added", subject, "in the full-text index, which an opening makes")
  }

  private static func stored(_ attribute: AttributeDescription) -> String {
    attribute.storesDerivation ? ", whose values the first opening computes" : ""
  }

  /// The declared indexes, by the names of today.
  private func indexes(of entity: Entity, _ model: Model, isFormer: Bool) -> [String] {
    entity.indexes.map { index in
      index.elements.map { element in
        let property = entity.properties[element.property]
        let heir = isFormer ? match.successor(of: property.index, in: entity.index) : nil
        let successor = match.successors[entity.index].map { new.entities[$0] }
        let name = heir.flatMap { successor?.properties[$0].name } ?? property.name
        return element.isDescending ? "-\(name)" : name
      }.joined(separator: ", ")
    }
  }
}
