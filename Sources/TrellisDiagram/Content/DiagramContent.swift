package import TrellisModel

/// What a picture of a model shows: boxes and the lines between them, with nothing of their places.
package struct DiagramContent: Sendable {
  /// Where a line ends at a box.
  package struct End: Sendable {
    package let card: Int
    /// From the top of the box.
    package let offset: Int
    package let mark: Mark
    /// The text above the line beside the box; empty for none.
    package let label: String
  }

  /// What is drawn at the end of a line.
  package enum Mark: Hashable, Sendable {
    case none
    /// Crow's feet: how many objects there are at this end for each object at the other.
    case one, optionalOne, many, someMany
    /// The end of a relationship that cannot be followed back, to one object or to many.
    case arrow, doubleArrow
    /// The parent of a hierarchy.
    case parent
  }

  package struct Line: Sendable {
    /// The end that all others are joined with.
    package let hub: End
    /// One, or the children of a parent.
    package let spokes: [End]
    package let isInheritance: Bool
    /// A sentence for a pointer over the line.
    package let note: String
  }

  package private(set) var cards: [Card] = []
  package private(set) var lines: [Line] = []

  /// - Parameter shown: the numbers of the entities to show; lines lead only to these.
  /// - Parameter details: what rows show instead of types and destinations, by the numbers of the entity and the property.
  package init(_ model: Model, entities shown: Set<Int>, details: [[String]]? = nil) {
    var builder = ContentBuilder(model, shown, details)
    builder.build()
    cards = builder.cards
    lines = builder.lines
  }
}

private struct ContentBuilder {
  let model: Model
  let shown: [Int]
  /// The numbers of the cards by that of the entity.
  let cardNumbers: [Int: Int]
  var cards: [Card] = []
  var lines: [DiagramContent.Line] = []

  /// Where the row of a relationship is, and where its line arrives if the other entity has no property for it.
  private var departures: [PropertyKey: Place] = [:]
  private var arrivals: [PropertyKey: Place] = [:]

  struct PropertyKey: Hashable {
    let entity: Int
    let property: Int
  }

  struct Place {
    let card: Int
    let offset: Int
    let height: Int
  }

  private let details: [[String]]?

  init(_ model: Model, _ shown: Set<Int>, _ details: [[String]]?) {
    self.model = model
    self.details = details
    self.shown = model.entities.indices.filter(shown.contains)
    cardNumbers = Dictionary(uniqueKeysWithValues: self.shown.enumerated().map { ($1, $0) })
  }

  mutating func build() {
    let incoming = oneWayRelationships()
    for entity in shown { addCard(of: model.entities[entity], arriving: incoming[entity] ?? []) }
    addRelationships()
    addInheritance()
    addEnums()
  }

  // MARK: Cards

  private func oneWayRelationships() -> [Int: [Relationship]] {
    var incoming: [Int: [Relationship]] = [:]
    for entity in shown {
      for relationship in model.entities[entity].ownRelationships where relationship.inverse == nil {
        incoming[relationship.destination, default: []].append(relationship)
      }
    }
    return incoming
  }

  private func detail(_ property: Int, of entity: Entity) -> String? {
    guard let details, details.indices.contains(entity.index), details[entity.index].indices.contains(property) else {
      return nil
    }
    let detail = details[entity.index][property]
    return detail.isEmpty ? nil : detail
  }

  private mutating func addCard(of entity: Entity, arriving: [Relationship]) {
    var builder = CardBuilder(title: entity.name)
    for attribute in entity.ownAttributes {
      let isEnum = if case .enumeration = attribute.type { true } else { false }
      builder.add(
        .attribute(
          isUnique: entity.isUnique(attribute), isTransient: attribute.description.isTransient, isEnum: isEnum),
        attribute.name,
        detail: detail(attribute.index, of: entity) ?? attribute.description.typeSpelling
          + (attribute.isOptional ? "?" : ""))
    }
    let relationships = entity.ownRelationships
    if !relationships.isEmpty || !arriving.isEmpty { builder.divide() }
    var places: [(PropertyKey, row: Int, isArrival: Bool)] = []
    for relationship in relationships {
      let row = builder.add(
        .relationship(relationship.deleteRule, isTransient: relationship.isTransient), relationship.name,
        detail: detail(relationship.index, of: entity) ?? relationship.destinationText,
        // The line leaves and comes back in one row.
        height: relationship.isOwnInverse ? 2 * Measure.row : Measure.row)
      places.append((PropertyKey(entity: entity.index, property: relationship.index), row, false))
    }
    for relationship in arriving {
      let row = builder.add(.arrival, "from \(model.entities[relationship.entity].name).\(relationship.name)")
      places.append((PropertyKey(entity: relationship.entity, property: relationship.index), row, true))
    }
    // A key of one attribute is marked at it.
    let compound = entity.ownKeys.filter { key in
      !(key.properties.count == 1 && key.properties.allSatisfy { entity.properties[$0].attribute != nil })
    }
    if !compound.isEmpty { builder.divide() }
    for key in compound { builder.add(.key, key.properties.map { entity.properties[$0].name }.joined(separator: ", ")) }

    let note = model.description.entities[entity.index].doc
    let card = builder.card(.entity(entity.index, isAbstract: entity.isAbstract), note: note)
    for (key, row, isArrival) in places {
      let place = Place(
        card: cards.count, offset: card.rows[row].top + card.rows[row].height / 2, height: card.rows[row].height)
      if isArrival { arrivals[key] = place } else { departures[key] = place }
    }
    cards.append(card)
  }

  private mutating func addEnums() {
    let used = Set(
      shown.flatMap { model.entities[$0].ownAttributes }.compactMap { attribute -> String? in
        switch attribute.type {
        case .enumeration(let name), .array(.enumeration(let name)): name
        default: nil
        }
      })
    for enumeration in model.description.enums where used.contains(enumeration.name) {
      var builder = CardBuilder(title: enumeration.name)
      let shown = enumeration.cases.count <= 10 ? enumeration.cases.count : 8
      for enumCase in enumeration.cases.prefix(shown) {
        let raw: String
        switch enumCase.rawValue {
        case .integer(let number): raw = String(number)
        case .text(let text): raw = text == enumCase.name ? "" : text
        default: raw = ""
        }
        builder.add(.enumCase, enumCase.name, detail: raw)
      }
      if shown < enumeration.cases.count { builder.add(.enumCase, "… and \(enumeration.cases.count - shown) more") }
      cards.append(builder.card(.enumeration, note: enumeration.doc))
    }
  }

  // MARK: Lines

  private mutating func addRelationships() {
    for entity in shown {
      for relationship in model.entities[entity].ownRelationships
      where cardNumbers[relationship.destination] != nil {
        if let inverse = model.inverse(of: relationship) {
          // Each pair has one line, drawn from the end that comes first in the model.
          let isFirst =
            (relationship.entity, relationship.index) <= (inverse.entity, inverse.index)
          if isFirst { add(relationship, inverse) }
        } else {
          addOneWay(relationship)
        }
      }
    }
  }

  private mutating func add(_ relationship: Relationship, _ inverse: Relationship) {
    guard let here = departures[PropertyKey(entity: relationship.entity, property: relationship.index)],
      let there = departures[PropertyKey(entity: inverse.entity, property: inverse.index)]
    else { return }
    // A relationship that is its own inverse has both ends in one row of double height.
    let shift = relationship.isOwnInverse ? Measure.row / 2 : 0
    let first = DiagramContent.End(
      card: here.card, offset: here.offset - shift, mark: inverse.mark, label: inverse.countLabel)
    let second = DiagramContent.End(
      card: there.card, offset: there.offset + shift, mark: relationship.mark, label: relationship.countLabel)
    // The one with several partners is drawn as the owner, if only one of both is.
    let isReversed = !relationship.isToMany && inverse.isToMany
    lines.append(
      DiagramContent.Line(
        hub: isReversed ? second : first, spokes: [isReversed ? first : second], isInheritance: false,
        note: relationship.isOwnInverse
          ? relationship.qualifiedName : "\(relationship.qualifiedName) and \(inverse.qualifiedName)"))
  }

  private mutating func addOneWay(_ relationship: Relationship) {
    let key = PropertyKey(entity: relationship.entity, property: relationship.index)
    guard let here = departures[key], let there = arrivals[key] else { return }
    lines.append(
      DiagramContent.Line(
        hub: DiagramContent.End(card: here.card, offset: here.offset, mark: .none, label: ""),
        spokes: [
          DiagramContent.End(
            card: there.card, offset: there.offset, mark: relationship.isToMany ? .doubleArrow : .arrow,
            label: relationship.countLabel)
        ], isInheritance: false, note: "\(relationship.qualifiedName), one way"))
  }

  private mutating func addInheritance() {
    var children: [Int: [Int]] = [:]
    for entity in shown {
      guard let parent = model.entities[entity].parent, cardNumbers[parent] != nil else { continue }
      children[parent, default: []].append(entity)
    }
    let parents = Set(children.keys)
    for entity in shown {
      guard let card = cardNumbers[entity], let children = children[entity] else { continue }
      lines.append(
        DiagramContent.Line(
          hub: DiagramContent.End(card: card, offset: Measure.parentPort, mark: .parent, label: ""),
          spokes: children.compactMap { child in
            cardNumbers[child].map {
              DiagramContent.End(
                card: $0, offset: Measure.childPort(isParent: parents.contains(child)), mark: .none, label: "")
            }
          }, isInheritance: true,
          note: "Children of \(model.entities[entity].name): "
            + children.map { model.entities[$0].name }.joined(separator: ", ")))
    }
  }
}

extension Measure {
  /// Where the lines of children arrive at the title of their parent.
  static let parentPort = 20

  /// Where the line of a child leaves. Both may be at the same side of a box.
  static func childPort(isParent: Bool) -> Int { isParent ? 10 : parentPort }
}

extension Relationship {
  var qualifiedName: String { "\(entityName).\(name)" }

  /// The destination as Swift writes it: `[Tag]`, `Tag?`, `Tag`.
  package var destinationText: String {
    isToMany ? "[\(description.destination)]" : description.destination + (isRequired ? "" : "?")
  }

  /// The mark at the end where the destination is.
  var mark: DiagramContent.Mark {
    if !isToMany { return isRequired ? .one : .optionalOne }
    return (minimumCount ?? 0) > 0 && !description.isOptional ? .someMany : .many
  }

  /// The bounds as `1..20`; nil if there are none.
  package var boundsText: String? {
    guard isToMany, minimumCount != nil || maximumCount != nil else { return nil }
    return "\(minimumCount ?? 0)..\(maximumCount.map(String.init) ?? "*")"
  }

  /// What the mark cannot say.
  var countLabel: String {
    [boundsText, isOrdered ? "ordered" : nil].compactMap { $0 }.joined(separator: " ")
  }
}
