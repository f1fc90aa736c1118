import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The entities that can affect the results of a request when their objects change.
struct RequestReach {
  /// The entities of the results.
  let own: Set<Int>
  /// The other entities that the predicate and the sort keys depend on, with their subtrees; empty if there are none.
  private(set) var others: Set<Int> = []
  /// Whether a result depends only on its own row.
  let isOwnRowOnly: Bool
  private let model: Model

  init(_ request: StoreRequest, _ model: Model) {
    let entity = model.entities[request.entity]
    self.model = model
    own = Set(request.includesSubentities ? entity.subtree : [request.entity])
    isOwnRowOnly = !request.looksAtOthers(of: entity)
    guard !isOwnRowOnly else { return }
    for key in request.sort { add(key.path, [0: request.entity]) }
    if let predicate = request.predicate { add(predicate, [0: request.entity]) }
  }

  /// The effect of a save on the results of the request.
  enum Meaning {
    case nothing
    /// Only these rows may have been added, removed or moved.
    case rows(changed: [Int64], gone: [Int64])
    case anything
  }

  func meaning(of notice: SaveNotice) -> Meaning {
    if notice.isUnknown { return .anything }
    if notice.cleared.contains(where: { own.contains($0.entity) || isBelow($0.entity) }) { return .anything }
    guard isOwnRowOnly else { return isConcerned(notice) ? .anything : .nothing }
    let changed = [notice.inserted, notice.updated, notice.relinked].joined().filter { own.contains($0.entity) }
    let gone = notice.deleted.filter { own.contains($0.entity) }.map(\.key) + notice.cascaded
    return changed.isEmpty && gone.isEmpty ? .nothing : .rows(changed: changed.map(\.key), gone: gone)
  }

  private func isConcerned(_ notice: SaveNotice) -> Bool {
    let rows = [notice.inserted, notice.updated, notice.relinked, notice.deleted].joined()
    return !notice.cascaded.isEmpty || !notice.cleared.isEmpty
      || rows.contains { own.contains($0.entity) || others.contains($0.entity) }
  }

  /// Whether an entity is the ancestor of one of the results' entities, or one of them.
  private func isBelow(_ entity: Int) -> Bool { !own.isDisjoint(with: model.entities[entity].subtree) }

  // MARK: Finding out

  private mutating func add(_ predicate: QueryPredicate, _ variables: [Int: Int]) {
    switch predicate {
    case .constant: break
    case .not(let inner): add(inner, variables)
    case .and(let terms), .or(let terms): for term in terms { add(term, variables) }
    case .comparison(let comparison):
      add(comparison.left, variables)
      add(comparison.right, variables)
    case .isIn(let operand, _, _): add(operand, variables)
    case .quantified(_, let path, let variable, let condition):
      var inside = variables
      inside[variable] = add(path, variables)
      add(condition, inside)
    }
  }

  private mutating func add(_ operand: Operand, _ variables: [Int: Int]) {
    switch operand {
    case .value, .now, .parameter: break
    case .computed(.arithmetic(_, let left, let right)):
      add(left, variables)
      add(right, variables)
    case .computed(.function(_, let inner)): add(inner, variables)
    // Other computations, such as aggregates, may depend on any object.
    case .computed: others.formUnion(model.entities.indices)
    case .path(let path), .count(let path), .entity(let path): add(path, variables)
    }
  }

  /// - Returns: the entity at the end of the path.
  @discardableResult private mutating func add(_ path: PropertyPath, _ variables: [Int: Int]) -> Int? {
    guard var entity = variables[Int(path.variable)] else { return nil }
    for step in path.steps {
      let properties = model.entities[entity].properties
      guard properties.indices.contains(step), let relationship = properties[step].relationship else { break }
      entity = relationship.destination
      others.formUnion(model.entities[entity].subtree)
    }
    return entity
  }
}
