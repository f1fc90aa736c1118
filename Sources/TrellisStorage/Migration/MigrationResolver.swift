import TrellisModel

/// Resolves a match to moves of rows and links.
struct MigrationResolver {
  private(set) var conversions: [ValueConversion] = []
  private(set) var expressions: [BackfillExpression] = []
  private let match: ModelMatch
  private let storedLinks: LinkList
  private let currentLinks: LinkList
  /// Whether each entity is the current entity of stored rows, and which: the stored entities by their successor.
  private let origins: [[Int]]

  private var stored: Model { match.stored }
  private var current: Model { match.current }

  init(_ match: ModelMatch, _ storedLinks: LinkList, _ currentLinks: LinkList) {
    self.match = match
    self.storedLinks = storedLinks
    self.currentLinks = currentLinks
    var origins: [[Int]] = match.current.entities.map { _ in [] }
    for (origin, successor) in match.successors.enumerated() { if let successor { origins[successor].append(origin) } }
    self.origins = origins
  }

  // MARK: Links

  func moveLinks() -> [LinkMove] { currentLinks.all.map(move) }

  private func move(_ link: LinkList.Link) -> LinkMove {
    var sources = sources(of: link.first, isSecond: false)
    if sources.isEmpty, let second = link.second, !link.isSymmetric { sources = self.sources(of: second, isSecond: true) }
    let ends = sources.map { Ends(storedLinks.all[$0.link], $0.isReversed) }
    let isUnion = ends.count > 1
    let reducesFirst = !link.first.isToMany && (isUnion || ends.contains { $0.hasManyPartners })
    let reducesSecond =
      link.second.map { !$0.isToMany && (isUnion || ends.contains { $0.hasManyOwners }) } ?? false
    let losesPartners = ends.contains { !areKept($0, link) }
    let isCopied =
      ends.count == 1 && ends.allSatisfy { self.isCopied($0, sources[0].isReversed, link) } && !reducesFirst
      && !reducesSecond && !losesPartners
    return LinkMove(
      link: link, sources: sources, way: sources.isEmpty ? .new : isCopied ? .copied : .collected,
      mayReduceFirst: reducesFirst, mayReduceSecond: reducesSecond)
  }

  /// The stored links that a relationship continues, seen from it.
  private func sources(of relationship: Relationship, isSecond: Bool) -> [LinkMove.Source] {
    var sources: [LinkMove.Source] = []
    for entity in current.entities[relationship.entity].subtree {
      for origin in origins[entity] {
        guard let number = match.properties[origin][relationship.index],
          let old = stored.entities[origin].properties[number].relationship, let found = storedLinks.link(of: old)
        else { continue }
        let source = LinkMove.Source(link: found.number, isReversed: found.isSecond != isSecond)
        if !sources.contains(source) { sources.append(source) }
      }
    }
    return sources
  }

  /// The two ends of a stored link, in the direction of the current link.
  private struct Ends {
    let link: LinkList.Link
    let ownerEntity: Int
    let partnerEntity: Int
    let hasManyPartners: Bool
    let hasManyOwners: Bool
    let isFirstOrdered: Bool
    let isSecondOrdered: Bool

    init(_ link: LinkList.Link, _ isReversed: Bool) {
      self.link = link
      let (first, second) = (link.first, link.second)
      // A one-way relationship may lead to the same object from many.
      let secondIsToMany = second?.isToMany ?? true
      ownerEntity = isReversed ? first.destination : first.entity
      partnerEntity = isReversed ? first.entity : first.destination
      hasManyPartners = isReversed ? secondIsToMany : first.isToMany
      hasManyOwners = isReversed ? first.isToMany : secondIsToMany
      isFirstOrdered = isReversed ? link.isSecondOrdered : link.isFirstOrdered
      isSecondOrdered = isReversed ? link.isFirstOrdered : link.isSecondOrdered
    }
  }

  /// Whether every pair of a stored link can be a pair of the current one.
  private func areKept(_ ends: Ends, _ link: LinkList.Link) -> Bool {
    areKept(ends.ownerEntity, within: link.first.entity) && areKept(ends.partnerEntity, within: link.first.destination)
      && (!ends.link.first.isLeftAlone || link.first.isLeftAlone)
  }

  private func areKept(_ entity: Int, within ancestor: Int) -> Bool {
    stored.entities[entity].subtree.allSatisfy { member in
      stored.entities[member].isAbstract
        || (match.successors[member].map {
          !current.entities[$0].isAbstract && current.isEntity($0, within: ancestor)
        } ?? false)
    }
  }

  /// Whether the columns, or the join table, of a stored link have the same form.
  private func isCopied(_ ends: Ends, _ isReversed: Bool, _ link: LinkList.Link) -> Bool {
    guard ends.link.isSymmetric == link.isSymmetric, ends.link.isColumn == link.isColumn else { return false }
    if link.isColumn { return !isReversed && (!link.isSecondOrdered || ends.isSecondOrdered) }
    return (!link.isFirstOrdered || ends.isFirstOrdered) && (!link.isSecondOrdered || ends.isSecondOrdered)
  }

  // MARK: Rows

  mutating func moveRows(_ links: [LinkMove]) -> [RowMove?] {
    var moves: [RowMove?] = []
    for entity in stored.entities {
      guard !entity.isAbstract, let successor = match.successors[entity.index],
        !current.entities[successor].isAbstract
      else {
        moves.append(nil)
        continue
      }
      moves.append(move(entity, to: current.entities[successor], links))
    }
    return moves
  }

  private mutating func move(_ origin: Entity, to entity: Entity, _ links: [LinkMove]) -> RowMove {
    var columns: [ColumnSource] = []
    for column in entity.columns {
      switch column.content {
      case .attribute(let number):
        guard let attribute = entity.properties[number].attribute else { continue }
        columns.append(source(of: attribute, origin))
      case .reference(let number, _): columns.append(source(of: number, entity, origin, links, isPlace: false))
      case .order(let number): columns.append(source(of: number, entity, origin, links, isPlace: true))
      }
    }
    return RowMove(origin: origin.index, entity: entity.index, columns: columns)
  }

  /// The source of a reference, or of the place in the inverse.
  private func source(
    of number: Int, _ entity: Entity, _ origin: Entity, _ links: [LinkMove], isPlace: Bool
  ) -> ColumnSource {
    guard let relationship = entity.properties[number].relationship,
      let link = currentLinks.link(of: relationship)?.number
    else { return .new(.null) }
    switch links[link].way {
    case .new: return .new(.null)
    case .collected: return isPlace ? .place(link) : .partner(link)
    case .copied:
      // The end with the column may be new, and only the other one continue the link.
      guard let old = links[link].sources.first.map({ storedLinks.all[$0.link].first }),
        stored.isEntity(origin.index, within: old.entity), case .column(let reference, let place) = old.home
      else { return .new(.null) }
      let column = isPlace ? place : reference
      return column.map { .stored(StoredColumn(column: $0)) } ?? .new(.null)
    }
  }

  private mutating func source(of attribute: Attribute, _ origin: Entity) -> ColumnSource {
    guard let number = match.properties[origin.index][attribute.index],
      let old = origin.properties[number].attribute, let column = old.column
    else { return .new(filling(attribute, origin, isNeeded: true)) }
    let conversion = ValueConversion(from: old, in: stored, to: attribute, in: current)
    if conversion.reach == .never { return .new(filling(attribute, origin, isNeeded: true)) }
    var source = StoredColumn(column: column)
    source.isInlined = old.description.isExternal && !attribute.description.isExternal
    if old.isOptional && !attribute.isOptional { source.missing = filling(attribute, origin, isNeeded: true) }
    guard conversion.reach != .sameForm else { return .stored(source) }
    source.conversion = self.number(of: conversion)
    if conversion.reach == .counted { source.misfit = filling(attribute, origin, isNeeded: false) }
    return .stored(source)
  }

  private mutating func number(of conversion: ValueConversion) -> Int {
    conversions.append(conversion)
    return conversions.count - 1
  }

  /// - Parameter isNeeded: whether rows without a value are expected. An expression that does not fit the stored model
  ///   is then no answer.
  private mutating func filling(_ attribute: Attribute, _ origin: Entity, isNeeded: Bool) -> Filling {
    if let backfill = attribute.description.backfill {
      switch backfill {
      case .value(let value):
        if let filling = Filling(value, attribute.type) { return filling }
      case .expression(let text):
        if let filling = expression(text, attribute, origin) { return filling }
      }
    }
    if let value = attribute.description.defaultValue, let filling = Filling(value, attribute.type) { return filling }
    return attribute.isOptional ? .null : .unanswered
  }

  private mutating func expression(_ text: String, _ attribute: Attribute, _ origin: Entity) -> Filling? {
    nil
  }

  // MARK: Losses

  /// Everything of the stored model that has no place, in the order of the stored model.
  func findLosses(_ rows: [RowMove?], _ links: [LinkMove]) -> [Loss] {
    var losses: [Loss] = []
    for entity in stored.entities {
      if rows[entity.index] == nil {
        if !entity.isAbstract { losses.append(lostRows(of: entity)) }
        if match.successors[entity.index] == nil { continue }
      }
      for property in entity.properties { losses += lostValues(of: property, entity, rows) }
    }
    let pairs = LostPairs(match, storedLinks, links, rows)
    return losses + storedLinks.all.indices.flatMap(pairs.losses)
  }

  private func lostRows(of entity: Entity) -> Loss {
    Loss(
      entity: entity.index, subject: .rows, owners: [entity.index], isConsented: match.consentsToLosing(entity),
      likelyName: match.likelyName(of: entity), isReplaced: false)
  }

  private func lostValues(of property: Property, _ entity: Entity, _ rows: [RowMove?]) -> [Loss] {
    // A loss is told once, at the topmost entity that is kept.
    guard let column = property.attribute?.column, let successor = match.successors[entity.index],
      !isTold(property, above: entity)
    else { return [] }
    let owners = entity.subtree.filter { owner in
      rows[owner].map { !$0.isKept(column) } ?? false
    }
    // Each entity has to consent for itself, because not all of them may have values.
    let consenting = owners.filter { owner in
      match.successors[owner].map { match.consentsToLosing(property, of: $0) } ?? true
    }
    return [(consenting, true), (owners.filter { !consenting.contains($0) }, false)].compactMap { owners, isConsented in
      if owners.isEmpty { return nil }
      return Loss(
        entity: entity.index, subject: .values(property.index), owners: owners, isConsented: isConsented,
        likelyName: match.likelyName(of: property, in: successor),
        isReplaced: match.replacement(of: property, in: successor) != nil)
    }
  }

  /// Whether a parent that is kept inherits the property as well, so that the loss belongs to the parent.
  private func isTold(_ property: Property, above entity: Entity) -> Bool {
    var next = entity.parent
    while let parent = next {
      let above = stored.entities[parent]
      guard property.index < above.properties.count else { return false }
      if match.successors[parent] != nil { return true }
      next = above.parent
    }
    return false
  }
}

extension RowMove {
  /// Whether the values of a stored column have a place.
  fileprivate func isKept(_ column: Int) -> Bool {
    columns.contains { if case .stored(let stored) = $0 { stored.column == column } else { false } }
  }
}
