import TrellisModel

/// A rule of the current model that stored data may break although it kept the rules of the stored model.
///
/// A migration does not enforce it: an object that breaks it can be read, and the next save of a change of it is refused.
package struct NewBound: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// The values of a column of the current entity.
    case values(column: Int)
    /// The number of partners of each object, by the number of the current link.
    case partners(link: Int, isSecond: Bool)
  }

  /// The current entity that declares the property.
  let entity: Int
  /// The number of the property.
  let property: Int
  let subject: Subject
  /// The stored entities whose rows may break the rule.
  let origins: [Int]
  /// The rules in the words of the model file.
  let words: [String]

  /// Every bound that stored data may break.
  static func all(
    _ match: ModelMatch, _ rows: [RowMove?], _ links: [LinkMove], _ stored: LinkList, _ current: LinkList
  ) -> [NewBound] {
    let search = BoundSearch(match: match, links: links, stored: stored, current: current)
    return match.current.entities.flatMap { entity -> [NewBound] in
      let moves = rows.compactMap(\.self).filter { match.current.isEntity($0.entity, within: entity.index) }
      guard !moves.isEmpty else { return [] }
      return entity.properties.compactMap { property in
        switch property {
        case .attribute(let attribute):
          attribute.entity == entity.index ? search.bound(of: attribute, entity, moves) : nil
        case .relationship(let relationship):
          relationship.entity == entity.index ? search.bound(of: relationship, entity, moves) : nil
        }
      }
    }
  }
}

/// Compares the rules of both models.
private struct BoundSearch {
  let match: ModelMatch
  let links: [LinkMove]
  let stored: LinkList
  let current: LinkList

  // MARK: Values

  func bound(of attribute: Attribute, _ entity: Entity, _ moves: [RowMove]) -> NewBound? {
    let rules = attribute.description.rules
    guard !rules.isEmpty, let column = attribute.column else { return nil }
    var origins: [Int] = []
    var words: Set<String> = []
    for move in moves {
      let found = tightened(rules, attribute, move, column)
      if found.isEmpty { continue }
      origins.append(move.origin)
      words.formUnion(found)
    }
    guard !origins.isEmpty else { return nil }
    return NewBound(
      entity: entity.index, property: attribute.index, subject: .values(column: column), origins: origins,
      words: rules.tightened(since: nil, attribute.type).filter(words.contains))
  }

  private func tightened(_ rules: AttributeRules, _ attribute: Attribute, _ move: RowMove, _ column: Int) -> [String] {
    switch move.columns[column] {
    case .stored(let source):
      let number = match.properties[move.origin][attribute.index]
      let former = number.flatMap { match.stored.entities[move.origin].properties[$0].attribute }
      // Values that are computed from stored ones keep no rules of theirs.
      let isKept = source.conversion == nil && source.missing.keepsRules && source.misfit.keepsRules
      return rules.tightened(since: isKept ? former?.description.rules : nil, attribute.type)
    case .new(let filling):
      return filling.keepsRules ? [] : rules.tightened(since: nil, attribute.type)
    case .partner, .place: return []
    }
  }

  // MARK: Partners

  func bound(of relationship: Relationship, _ entity: Entity, _ moves: [RowMove]) -> NewBound? {
    guard relationship.leastCount > 0 || relationship.mostCount < .max,
      let (number, isSecond) = current.link(of: relationship)
    else { return nil }
    let move = links[number]
    let former = former(move, isSecond: isSecond)
    let mayHaveFewer = move.isFiltered || move.mayLose
    let owners = moves.map(\.origin).filter { origin in
      let kept = former.flatMap { match.stored.isEntity(origin, within: $0.entity) && !mayHaveFewer ? $0 : nil }
      return !relationship.tightenedCounts(since: kept).isEmpty
    }
    guard !owners.isEmpty else { return nil }
    return NewBound(
      entity: entity.index, property: relationship.index, subject: .partners(link: number, isSecond: isSecond),
      origins: owners, words: relationship.tightenedCounts(since: mayHaveFewer ? nil : former))
  }

  /// The one stored relationship that an end of a link continues. Nil for a new link, for one of several relationships, and
  /// for one that becomes its own inverse, because its pairs are read from both ends then.
  private func former(_ move: LinkMove, isSecond: Bool) -> Relationship? {
    guard move.sources.count == 1, let source = move.sources.first else { return nil }
    let link = stored.all[source.link]
    if move.link.isSymmetric != link.isSymmetric { return nil }
    return source.isReversed == isSecond ? link.first : link.second
  }
}

extension Filling {
  /// Whether the values keep the rules of their attribute: the model file checks constants.
  fileprivate var keepsRules: Bool {
    if case .expression = self { false } else { true }
  }
}

extension Migration {
  /// The attributes of ``newBounds``; nil for bounds of relationships.
  var boundedAttributes: [CheckedAttribute?] {
    newBounds.map { current.entities[$0.entity].properties[$0.property].attribute.flatMap(CheckedAttribute.init) }
  }
}
