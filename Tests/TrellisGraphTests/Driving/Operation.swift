/// One step of a test, on objects by number and relationships by shape.
enum Operation {
  case insert(entity: String)
  case set(Int, Shape, Int?)
  case append(Int, Shape, Int)
  case insertAt(Int, Shape, Int, place: Int)
  case remove(Int, Shape, Int)
  case move(Int, Shape, from: Int, to: Int)
  case replace(Int, Shape, [Int])
  case delete(Int)
  /// A delete that is taken back; between them everything is looked at, or nothing.
  case deleteAndUndelete(Int, isLookedAt: Bool)
  case save
  /// The last step that is in the history, if there is one.
  case undo
  /// What was undone last, unless something was done since.
  case redo
  case rollback
  /// Everything unsaved is lost, and everything is loaded anew when it is needed.
  case reset
  case newContext
  /// Everything that has no changes is loaded anew when it is needed.
  case refreshAll
  case refresh(Int)
  /// The object's edits are given up, too.
  case discard(Int)
  /// The context drops objects that nobody holds.
  case dropUnused
  case fetch(entity: String)
  /// Only how many members there are.
  case count(Int, Shape)
  case contains(Int, Shape, Int)
  /// Who is there, with the siblings that are loaded along.
  case read(Int, Shape)
}

extension Operation {
  /// Whether it is one call, which has done nothing when it fails.
  var canFail: Bool {
    if case .deleteAndUndelete = self { false } else { true }
  }
}

extension Operation: CustomStringConvertible {
  var description: String {
    switch self {
    case .insert(let entity): "insert \(entity)"
    case .set(let object, let shape, let partner): "\(object).\(shape.name) = \(partner.map(String.init) ?? "nil")"
    case .append(let object, let shape, let partner): "\(object).\(shape.name).append(\(partner))"
    case .insertAt(let object, let shape, let partner, let place):
      "\(object).\(shape.name).insert(\(partner), at: \(place))"
    case .remove(let object, let shape, let partner): "\(object).\(shape.name).remove(\(partner))"
    case .move(let object, let shape, let from, let to): "\(object).\(shape.name).move(from: \(from), to: \(to))"
    case .replace(let object, let shape, let partners): "\(object).\(shape.name) = \(partners)"
    case .delete(let object): "delete \(object)"
    case .deleteAndUndelete(let object, let isLookedAt):
      "delete \(object), \(isLookedAt ? "look at everything, " : "")undelete it"
    case .refresh(let object): "refresh \(object)"
    case .discard(let object): "discard \(object)"
    case .fetch(let entity): "fetch \(entity)"
    case .count(let object, let shape): "count \(object).\(shape.name)"
    case .contains(let object, let shape, let partner): "\(object).\(shape.name).contains(\(partner))"
    case .read(let object, let shape): "read \(object).\(shape.name)"
    case .save: "save"
    case .undo: "undo"
    case .redo: "redo"
    case .rollback: "rollback"
    case .reset: "reset"
    case .newContext: "new context"
    case .refreshAll: "refresh all"
    case .dropUnused: "drop unused"
    }
  }
}
