import TrellisModel

/// Resolves a match to moves of rows and links.
struct MigrationResolver {
  private(set) var conversions: [ValueConversion] = []
  private(set) var expressions: [BackfillExpression] = []
  private(set) var faults: [BackfillFault] = []
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
    if sources.isEmpty, let second = link.second, !link.isSymmetric {
      sources = self.sources(of: second, isSecond: true)
    }
    let ends = sources.map { Ends(storedLinks.all[$0.link], $0.isReversed) }
    let isUnion = ends.count > 1
    // An object that was an owner and a partner has two partners, if both ends become one.
    let reducesFirst =
      !link.first.isToMany
      && (isUnion || ends.contains { $0.hasManyPartners || link.isSymmetric && !$0.link.isSymmetric })
    let reducesSecond =
      link.second.map { !$0.isToMany && (isUnion || ends.contains { $0.hasManyOwners }) } ?? false
    let losesPartners = ends.contains { !areKept($0, link) }
    let isCopied =
      ends.count == 1 && ends.allSatisfy { self.isCopied($0, sources[0].isReversed, link) } && !reducesFirst
      && !reducesSecond && !losesPartners
    return LinkMove(
      link: link, sources: sources, way: sources.isEmpty ? .new : isCopied ? .copied : .collected,
      mayReduceFirst: reducesFirst, mayReduceSecond: reducesSecond, isFiltered: losesPartners)
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
    let isReversed: Bool
    let isFirstOrdered: Bool
    let isSecondOrdered: Bool

    init(_ link: LinkList.Link, _ isReversed: Bool) {
      self.link = link
      self.isReversed = isReversed
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
      && (!ends.link.first.isLeftAlone || keepsDangling(ends, link))
  }

  /// Whether stored references that may lead to nothing can stay: their targets are partners, and not owners, as before.
  private func keepsDangling(_ ends: Ends, _ link: LinkList.Link) -> Bool {
    link.first.isLeftAlone && !ends.isReversed && link.isSymmetric == ends.link.isSymmetric
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
    else { return .new(attribute.isField ? fieldFilling(attribute, origin) : filling(attribute, origin)) }
    let conversion = ValueConversion(from: old, in: stored, to: attribute, in: current)
    if conversion.reach == .never { return .new(filling(attribute, origin)) }
    var source = StoredColumn(column: column)
    source.isInlined = old.description.isExternal && !attribute.description.isExternal
    if old.isOptional && !attribute.isOptional { source.missing = filling(attribute, origin) }
    if old.isOptional, attribute.role == .field,
      isRequired(attribute, in: match.successors[origin.index].map { current.entities[$0] }),
      !isRequired(old, in: origin)
    {
      let missing = fieldFilling(attribute, origin)
      if missing != .unanswered { source.missing = missing }
    }
    guard conversion.reach != .sameForm else { return .stored(source) }
    source.conversion = self.number(of: conversion)
    if conversion.reach == .counted { source.misfit = filling(attribute, origin) }
    return .stored(source)
  }

  private mutating func number(of conversion: ValueConversion) -> Int {
    conversions.append(conversion)
    return conversions.count - 1
  }

  /// The stored rows that have a value of a composite.
  private enum Presence {
    case never, always
    case rows(where: QueryPredicate)
  }

  /// The value of an attribute of a composite that stored rows lack: rows with a value of the composite get its default.
  private mutating func fieldFilling(_ attribute: Attribute, _ origin: Entity) -> Filling {
    guard attribute.description.backfill == nil, let successor = match.successors[origin.index] else {
      return filling(attribute, origin)
    }
    let entity = current.entities[successor]
    let group: OptionalGroup
    let constant: StoredValue?
    if let own = entity.optionalGroups.first(where: { $0.presence == attribute.index }) {
      (group, constant) = (own, .integer(1))
    } else if let outer = entity.optionalGroup(of: attribute.index),
      let field = outer.required.first(where: { $0.number == attribute.index })
    {
      group = outer
      if case .value(let value)? = field.defaultValue.flatMap({ Filling($0, attribute.type) }) {
        constant = value
      } else {
        constant = nil
      }
    } else {
      return filling(attribute, origin)
    }
    switch (presence(of: group, origin), constant) {
    case (.never, _): return .null
    case (_, nil): return .unanswered
    case (.always, let constant?): return .value(constant)
    case (.rows(let condition), let constant?):
      return add(.computed(.conditional(condition, .value(constant), .value(.null))), origin)
    }
  }

  /// Which stored rows have a value of a composite, by the fields that they have: all with a field that is never nil, or
  /// those with a field that is not nil.
  private func presence(of group: OptionalGroup, _ origin: Entity) -> Presence {
    let known = match.properties[origin.index][group.presence].map { [$0] }
    let former = (known ?? group.fields.compactMap { match.properties[origin.index][$0] }).compactMap {
      origin.properties[$0].attribute
    }
    if former.isEmpty { return .never }
    if former.contains(where: { !$0.isOptional }) { return .always }
    let terms = former.map { attribute in
      QueryPredicate.comparison(
        Comparison(
          .path(PropertyPath(variable: 0).appending(attribute.index)), .notEqual, .value(.null),
          kind: attribute.valueKind))
    }
    return .rows(where: terms.count == 1 ? terms[0] : .or(terms))
  }

  /// Whether a field has a value wherever its composite, which may be nil, has one.
  private func isRequired(_ field: Attribute, in entity: Entity?) -> Bool {
    entity?.optionalGroup(of: field.index)?.required.contains { $0.number == field.index } ?? false
  }

  private mutating func add(_ operand: Operand, _ origin: Entity) -> Filling {
    let expression = BackfillExpression(entity: origin.index, operand: operand, conversion: nil)
    if let known = expressions.firstIndex(of: expression) { return .expression(known) }
    expressions.append(expression)
    return .expression(expressions.count - 1)
  }

  private mutating func filling(_ attribute: Attribute, _ origin: Entity) -> Filling {
    if let backfill = attribute.description.backfill {
      switch backfill {
      case .value(let value):
        if let filling = Filling(value, attribute.type) { return filling }
      case .expression(let text):
        do throws(PredicateFormatError) {
          return try expression(text, attribute, origin)
        } catch {
          // A property that this version of the model has not, or not any more, cannot answer; a default can.
          let isOfOtherVersion = error.code == .unknownProperty
          faults.append(
            BackfillFault(
              origin: origin.index, property: attribute.index, isOfOtherVersion: isOfOtherVersion,
              message: error.description))
          if !isOfOtherVersion { return .unanswered }
        }
      }
    }
    if let value = attribute.description.defaultValue, let filling = Filling(value, attribute.type) { return filling }
    return attribute.isOptional ? .null : .unanswered
  }

  private mutating func expression(
    _ text: String, _ attribute: Attribute, _ origin: Entity
  ) throws(PredicateFormatError) -> Filling {
    let value = try CheckedValue(text, of: origin.index, in: stored)
    let form = AttributeForm(attribute.type, current)
    // A real of the language is a double, and the attribute that it is read from may be a float.
    let isFloat = stored.attribute(at: value.operand, of: origin)?.type == .float
    guard let found = isFloat ? .float : AttributeForm(value.type, stored) else { throw Self.unfit(text, attribute) }
    let conversion = ValueConversion(from: found, to: form)
    if conversion.reach == .never { throw Self.unfit(text, attribute) }
    expressions.append(
      BackfillExpression(
        entity: origin.index, operand: value.operand,
        conversion: conversion.reach == .sameForm ? nil : number(of: conversion)))
    return .expression(expressions.count - 1)
  }

  private static func unfit(_ text: String, _ attribute: Attribute) -> PredicateFormatError {
    PredicateFormatError(.typeMismatch, "This is no value of the type \(attribute.type.spelling).", in: text, at: 0)
  }

  // MARK: Losses

  /// Everything of the stored model that has no place, in the order of the stored model.
  func findLosses(_ rows: [RowMove?], _ links: [LinkMove]) -> [Loss] {
    var losses: [Loss] = []
    for entity in stored.entities where rows[entity.index] == nil && !entity.isAbstract {
      losses.append(lostRows(of: entity))
    }
    losses += findLostValues(rows)
    let pairs = LostPairs(match, storedLinks, links, rows)
    losses += storedLinks.all.indices.flatMap(pairs.losses)
    return losses.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }
  }

  private func lostRows(of entity: Entity) -> Loss {
    Loss(
      entity: entity.index, subject: .rows, owners: [entity.index], isConsented: match.consentsToLosing(entity),
      likelyName: match.likelyName(of: entity), replacement: nil)
  }

  /// The attributes without a place. Each entity consents for itself, because not all of them may have values.
  private func findLostValues(_ rows: [RowMove?]) -> [Loss] {
    struct Told: Hashable {
      let entity: Int
      let property: Int
      let isConsented: Bool
    }
    var owners: [Told: [Int]] = [:]
    for entity in stored.entities {
      guard let move = rows[entity.index] else { continue }
      for case .attribute(let attribute) in entity.properties {
        guard let column = attribute.column, !move.isKept(column),
          attribute.role != .presence || !isContinued(attribute, entity, move)
        else { continue }
        let told = Told(
          entity: match.teller(of: attribute.index, lostBy: entity.index), property: attribute.index,
          isConsented: match.consentsToLosing(.attribute(attribute), of: move.entity))
        owners[told, default: []].append(entity.index)
      }
    }
    return owners.map { told, owners in
      let property = stored.entities[told.entity].properties[told.property]
      let successor = match.successors[told.entity]
      return Loss(
        entity: told.entity, subject: .values(told.property), owners: owners, isConsented: told.isConsented,
        likelyName: successor.flatMap { match.likelyName(of: property, in: $0) },
        replacement: successor.flatMap { match.replacement(of: property, in: $0)?.name })
    }
  }
}

extension MigrationResolver {
  /// Whether any field of a composite has a place, so that it tells itself whether there was a value.
  private func isContinued(_ presence: Attribute, _ entity: Entity, _ move: RowMove) -> Bool {
    let group = entity.optionalGroups.first { $0.presence == presence.index }
    return group?.fields.contains { entity.properties[$0].column.map { move.isKept($0) } ?? false } ?? false
  }
}

extension Model {
  /// The attribute whose value an operand is; nil if the operand is another value.
  fileprivate func attribute(at operand: Operand, of entity: Entity) -> Attribute? {
    guard case .path(let path) = operand, path.variable == 0, let last = path.steps.last else { return nil }
    var entity = entity
    for step in path.steps.dropLast() {
      guard let relationship = entity.properties[step].relationship else { return nil }
      entity = entities[relationship.destination]
    }
    return entity.properties[last].attribute
  }
}

extension RowMove {
  /// Whether the values of a stored column have a place.
  fileprivate func isKept(_ column: Int) -> Bool {
    columns.contains { if case .stored(let stored) = $0 { stored.column == column } else { false } }
  }
}
