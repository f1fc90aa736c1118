import TrellisModel

/// Finds the stored pairs of two kept objects that no current link can have, because of the entities of the objects.
struct LostPairs {
  private let match: ModelMatch
  private let storedLinks: LinkList
  private let links: [LinkMove]
  private let rows: [RowMove?]

  private var stored: Model { match.stored }
  private var current: Model { match.current }

  init(_ match: ModelMatch, _ storedLinks: LinkList, _ links: [LinkMove], _ rows: [RowMove?]) {
    self.match = match
    self.storedLinks = storedLinks
    self.links = links
    self.rows = rows
  }

  /// What is told of a loss, apart from the owners and partners.
  private struct Kind: Hashable {
    let entity: Int
    let property: Int
    let partners: [Int]
    let isConsented: Bool
    let remaining: RelationshipNumber?
  }

  /// The losses of a stored link.
  ///
  /// - Complexity: the product of the numbers of entities at both ends.
  func losses(of number: Int) -> [Loss] {
    let link = storedLinks.all[number]
    let moves = moves(of: number)
    var partners: [Told: [Int: [Int]]] = [:]
    for owner in stored.entities[link.first.entity].subtree where rows[owner] != nil {
      for partner in stored.entities[link.first.destination].subtree where rows[partner] != nil {
        guard !hasPlace(owner, partner, link, moves) else { continue }
        let told = tell(owner, partner, link, moves)
        let (own, other) = told.isSecond ? (partner, owner) : (owner, partner)
        partners[told, default: [:]][own, default: []].append(other)
      }
    }
    var found: [Kind: [Int]] = [:]
    for (told, partners) in partners {
      guard let end = told.isSecond ? link.second : link.first else { continue }
      for (owner, others) in partners {
        let kind = Kind(
          entity: match.teller(of: end.index, lostBy: owner), property: end.index, partners: Set(others).sorted(),
          isConsented: told.isConsented,
          remaining: told.remaining)
        found[kind, default: []].append(owner)
      }
    }
    return found.map { kind, owners in loss(kind, owners.sorted()) }
  }

  private func loss(_ kind: Kind, _ owners: [Int]) -> Loss {
    let property = stored.entities[kind.entity].properties[kind.property]
    let successor = match.successors[kind.entity]
    return Loss(
      entity: kind.entity, subject: .pairs(kind.property), owners: owners, partners: kind.partners,
      isConsented: kind.isConsented,
      likelyName: kind.remaining == nil ? successor.flatMap { match.likelyName(of: property, in: $0) } : nil,
      replacement: kind.remaining == nil ? successor.flatMap { match.replacement(of: property, in: $0)?.name } : nil,
      remaining: kind.remaining)
  }

  // MARK: Places

  /// The current links with pairs of a stored link, and whether each of them has the first end as its second.
  private func moves(of number: Int) -> [(move: LinkMove, isReversed: Bool)] {
    links.flatMap { move in move.sources.filter { $0.link == number }.map { (move, $0.isReversed) } }
  }

  private func hasPlace(
    _ owner: Int, _ partner: Int, _ link: LinkList.Link, _ moves: [(move: LinkMove, isReversed: Bool)]
  ) -> Bool {
    moves.contains { move, isReversed in
      let end = move.link.first
      // Each pair of a relationship that is its own inverse is stored in both directions.
      return isReversed || link.isSymmetric && accepts(partner, owner, end)
        ? accepts(partner, owner, end)
        : accepts(owner, partner, end)
    }
  }

  private func accepts(_ owner: Int, _ partner: Int, _ end: Relationship) -> Bool {
    guard let owner = match.successors[owner], let partner = match.successors[partner] else { return false }
    return current.isEntity(owner, within: end.entity) && current.isEntity(partner, within: end.destination)
  }

  // MARK: Telling

  /// The end at which a loss is told.
  private struct Told: Hashable {
    let isSecond: Bool
    let isConsented: Bool
    let remaining: RelationshipNumber?
  }

  /// The end that is gone tells. If none is gone, the first end tells, which still shows other pairs.
  private func tell(
    _ owner: Int, _ partner: Int, _ link: LinkList.Link, _ moves: [(move: LinkMove, isReversed: Bool)]
  ) -> Told {
    let second = link.second
    let remaining = remaining(link.first, of: owner)
    let remainingSecond = second.flatMap { self.remaining($0, of: partner) }
    let isConsented =
      consents(to: link.first, of: owner) || second.map { consents(to: $0, of: partner) } ?? false
      || moves.contains { isLossy($0.move.link.first) } || remaining.map(isLossy) ?? false
      || remainingSecond.map(isLossy) ?? false
    let isSecond = remaining != nil && second != nil && remainingSecond == nil
    return Told(
      isSecond: isSecond, isConsented: isConsented,
      remaining: isSecond ? nil : remaining.map { RelationshipNumber(entity: $0.entity, property: $0.index) })
  }

  private func consents(to end: Relationship, of owner: Int) -> Bool {
    match.successors[owner].map { match.consentsToLosing(.relationship(end), of: $0) } ?? true
  }

  /// The current relationship that an object has in place of a stored one; nil if it is gone.
  private func remaining(_ end: Relationship, of owner: Int) -> Relationship? {
    guard let successor = match.successors[owner],
      let number = match.successor(of: end.index, in: owner)
    else { return nil }
    return current.entities[successor].properties[number].relationship
  }

  /// Whether either end of a current relationship says that pairs may be lost.
  private func isLossy(_ end: Relationship) -> Bool {
    end.description.isLossy || current.inverse(of: end)?.description.isLossy ?? false
  }
}
