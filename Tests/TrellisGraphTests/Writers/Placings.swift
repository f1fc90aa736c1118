/// The members of ordered to-manys to which one context has given a position. All others have the order of the store.
struct Placings {
  private struct Place: Hashable {
    /// Nil for any owner.
    let owner: Int?
    let shape: Int
    /// Nil for all members.
    let member: Int?
  }

  /// What was done at a time.
  private struct Edits {
    var places: Set<Place> = []
    /// Whether any object may have returned to any list.
    var mayBeAnywhere = false

    mutating func formUnion(_ other: Edits) {
      places.formUnion(other.places)
      mayBeAnywhere = mayBeAnywhere || other.mayBeAnywhere
    }
  }

  private var unsaved = Edits()
  /// What was saved, and counts again once it is undone.
  private var saved = Edits()

  mutating func note(_ deed: Act.Deed, _ shapes: Shapes) {
    switch deed {
    case .link(let operation): note(operation, shapes)
    case .delete: saved.mayBeAnywhere = true
    case .undo, .redo: unsaved.formUnion(saved)
    case .rollback: self = Placings()
    default: break
    }
  }

  private mutating func note(_ operation: Operation, _ shapes: Shapes) {
    switch operation {
    case .set(let member, let shape, let owner):
      // It leaves a list, to which an undo returns it.
      if let inverse = shapes.inverse(of: shape), inverse.isToMany { noteLeaving(member, inverse) }
      if let owner { note(member, shape, owner, shapes) }
    case .append(let owner, let shape, let member), .insertAt(let owner, let shape, let member, _):
      note(owner, shape, member, shapes)
    case .remove(let owner, let shape, let member):
      saved.places.insert(Place(owner: owner, shape: shape.index, member: member))
      if let inverse = shapes.inverse(of: shape) {
        saved.places.insert(Place(owner: member, shape: inverse.index, member: owner))
      }
    case .move(let owner, let shape, _, _):
      unsaved.places.insert(Place(owner: owner, shape: shape.index, member: nil))
    case .replace(let owner, let shape, let members):
      unsaved.places.insert(Place(owner: owner, shape: shape.index, member: nil))
      for member in members { note(owner, shape, member, shapes) }
    default: break
    }
  }

  private mutating func noteLeaving(_ member: Int, _ shape: Shape) {
    saved.places.insert(Place(owner: nil, shape: shape.index, member: member))
  }

  private mutating func note(_ owner: Int, _ shape: Shape, _ member: Int, _ shapes: Shapes) {
    unsaved.places.insert(Place(owner: owner, shape: shape.index, member: member))
    if let inverse = shapes.inverse(of: shape) {
      if !inverse.isToMany { noteLeaving(member, shape) }
      unsaved.places.insert(Place(owner: member, shape: inverse.index, member: owner))
    }
  }

  mutating func noteSaved() {
    saved.formUnion(unsaved)
    unsaved = Edits()
  }

  /// Takes over what a child has saved.
  mutating func formUnion(_ other: Placings) {
    unsaved.formUnion(other.unsaved)
    saved.formUnion(other.saved)
  }

  /// Whether the context may have put a member of a list anywhere.
  func contains(_ owner: Int, _ shape: Shape, _ member: Int) -> Bool {
    unsaved.mayBeAnywhere || unsaved.places.contains(Place(owner: owner, shape: shape.index, member: nil))
      || unsaved.places.contains(Place(owner: owner, shape: shape.index, member: member))
      || unsaved.places.contains(Place(owner: nil, shape: shape.index, member: member))
  }
}
