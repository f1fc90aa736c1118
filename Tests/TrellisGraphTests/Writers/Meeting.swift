import Trellis

/// How the two contexts of a meeting, and a third one without changes, are related.
enum Kinship: CaseIterable {
  case apart
  /// The context here is a child of the one there, which saves only afterwards.
  case childOfUnsaved
  /// The context here is a child of the one there, which saves before.
  case childOfSaved
  /// The context here is a child of the third one, and the one there saves before.
  case childBeside

  var parents: [Int?] { self == .apart ? [nil, nil, nil] : [nil, 0, nil] }
  var there: Int { self == .childBeside ? 2 : 0 }
  var here: Int { 1 }
  var third: Int { 2 - there }
  /// The context to which the one here saves.
  var parent: Int? { parents[here] }
  var savesThere: Bool { self != .childOfUnsaved }
}

/// One relationship, two contexts that know its objects, and everything that either can do to them in one step.
struct Meeting {
  let shape: Shape
  let inverse: Shape?
  /// The objects at the owning end come first; within one entity both ends are the same.
  let owners: [Int]
  let partners: [Int]
  /// What brings the objects into the store.
  let opening: [Act.Deed]

  init(_ shape: Shape, _ shapes: Shapes) {
    self.shape = shape
    inverse = shapes.inverse(of: shape)
    let isWithin = shape.entity == shape.destination
    let isPaired = !shape.isToMany && inverse?.isToMany == false
    owners = [1, 2]
    partners = isWithin ? [1, 2, 3, 4] : [3, 4, 5].dropLast(isPaired ? 1 : 0)
    var opening = Set(owners + partners).sorted().map { number in
      Act.Deed.insert(number <= 2 || isWithin ? shape.entity : shape.destination, as: number)
    }
    if shape.isToMany {
      opening.append(.link(.replace(1, shape, isWithin ? [3, 2] : [3, 4])))
      // The last one belongs to the other owner, or to both.
      if let last = partners.last { opening.append(.link(.append(2, shape, last))) }
      if !isWithin && inverse?.isToMany != false { opening.append(.link(.append(2, shape, 3))) }
    } else {
      opening.append(.link(.set(1, shape, 3)))
      if isPaired || isWithin {
        opening.append(.link(.set(2, shape, 4)))
      } else {
        opening.append(.link(.set(2, shape, 3)))
      }
    }
    self.opening = opening
  }

  /// A number that no object has at the beginning.
  private static let newcomer = 9

  /// Everything that can be done in one step.
  ///
  /// - Parameter side: tells the new objects and values of one context from the other's.
  func moves(_ side: Int) -> [[Act.Deed]] {
    var moves: [[Act.Deed]] = [[.label(1, side)], [.label(3, side)], [.size(1, side)], [.labelAndBack(1)]]
    moves += links(shape, owners, partners.filter { $0 != 2 })
    if let inverse, inverse.index != shape.index { moves += links(inverse, [3, partners.last ?? 3], owners) }
    moves += Set(owners + partners).sorted().map { [.delete($0)] }
    let newcomer = Self.newcomer + side
    moves.append([
      .insert(shape.destination, as: newcomer),
      .link(shape.isToMany ? .append(1, shape, newcomer) : .set(1, shape, newcomer)),
    ])
    if inverse != nil {
      let owner = newcomer + 2
      moves.append([
        .insert(shape.entity, as: owner), .link(shape.isToMany ? .append(owner, shape, 3) : .set(owner, shape, 3)),
      ])
    }
    moves.append([.delete(1), .undelete(1)])
    return moves
  }

  private func links(_ shape: Shape, _ owners: [Int], _ partners: [Int]) -> [[Act.Deed]] {
    var moves: [Operation] = []
    for owner in owners {
      moves.append(shape.isToMany ? .replace(owner, shape, []) : .set(owner, shape, nil))
      for partner in partners where partner != owner {
        guard shape.isToMany else {
          moves.append(.set(owner, shape, partner))
          continue
        }
        moves += [.append(owner, shape, partner), .remove(owner, shape, partner)]
        if shape.isOrdered { moves.append(.insertAt(owner, shape, partner, place: 0)) }
      }
    }
    return moves.map { [.link($0)] }
  }
}
