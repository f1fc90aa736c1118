import Trellis

/// One step of one context, on objects by number. It does nothing where an object is not there.
struct Act: CustomStringConvertible {
  /// What is looked at around a save. Looking loads, and merging first leaves less to the save.
  enum Look: CaseIterable {
    case not, after, before, mergedBefore

    var words: String {
      switch self {
      case .not: ""
      case .after: ", look"
      case .before: ", look before and after"
      case .mergedBefore: ", merged and looked at before and after"
      }
    }
  }

  enum Deed {
    case insert(String, as: Int)
    case label(Int, Int)
    case size(Int, Int)
    case nick(Int, Int?)
    /// An attribute is set and gets its former value again.
    case labelAndBack(Int)
    case link(Operation)
    case delete(Int)
    case undelete(Int)
    case save(MergePolicy, Look)
    case merge(looks: Bool)
    case fetch(String)
    case rollback
    case rollbackObject(Int)
    case refresh(Int)
    /// A refresh that gives up the edits.
    case discard(Int)
    case refreshAll
    case dropUnused
    case discardInvalidAndSave
    case undo
    case redo
    case updateAll(String, size: Int)
    case deleteAll(String, size: Int)
  }

  let writer: Int
  let deed: Deed

  var description: String { "\(Self.name(of: writer)): \(deed)" }

  static func name(of writer: Int) -> String { names.indices.contains(writer) ? names[writer] : "the reader" }

  private static let names = ["A", "B", "C", "D"]
}

extension Act.Deed: CustomStringConvertible {
  var description: String {
    switch self {
    case .insert(let entity, let number): "insert \(entity) as \(number)"
    case .label(let object, let value): "\(object).label = \"\(value)\""
    case .size(let object, let value): "\(object).size = \(value)"
    case .nick(let object, let value): "\(object).nick = \(value.map { "\"\($0)\"" } ?? "nil")"
    case .labelAndBack(let object): "\(object).label set and set back"
    case .link(let operation): "\(operation)"
    case .delete(let object): "delete \(object)"
    case .undelete(let object): "undelete \(object)"
    case .save(let policy, let look): "save under \(policy)\(look.words)"
    case .merge(let looks): "merge\(looks ? ", look" : "")"
    case .fetch(let entity): "fetch \(entity)"
    case .rollback: "rollback"
    case .rollbackObject(let object): "\(object).rollback()"
    case .refresh(let object): "refresh \(object)"
    case .discard(let object): "refresh \(object), discarding changes"
    case .refreshAll: "refresh all"
    case .dropUnused: "drop unused"
    case .discardInvalidAndSave: "discard invalid changes, save"
    case .undo: "undo"
    case .redo: "redo"
    case .updateAll(let entity, let size): "updateAll \(entity): size = \(size)"
    case .deleteAll(let entity, let size): "deleteAll \(entity) of size \(size)"
    }
  }
}
