import Trellis

/// Reads acts from what reports print, so that a report can be played again.
extension Act {
  /// - Parameter text: A line of a report, such as `A: 2.players.append(1)`; nil for a line that is none.
  init?(_ text: Substring, _ rules: Rules, _ entities: inout [Int: String]) {
    let parts = text.split(separator: ": ", maxSplits: 1)
    guard parts.count == 2, let writer = ["A", "B", "C", "D"].firstIndex(of: parts[0].filter { $0 != " " }),
      let deed = Deed(parts[1], rules, &entities)
    else { return nil }
    self.init(writer: writer, deed: deed)
  }
}

extension Act.Deed {
  fileprivate init?(_ text: Substring, _ rules: Rules, _ entities: inout [Int: String]) {
    let words = text.split(separator: " ").map(String.init)
    guard let first = words.first, let last = words.last else { return nil }
    switch first {
    case "insert":
      guard let number = Int(last) else { return nil }
      entities[number] = words[1]
      self = .insert(words[1], as: number)
    case "save":
      guard let policy = MergePolicy.allCases.first(where: { "\($0)" == words[2].filter { $0 != "," } }) else {
        return nil
      }
      let looks: [Act.Look] = [.mergedBefore, .before, .after, .not]
      self = .save(policy, looks.first { text.hasSuffix($0.words) } ?? .not)
    case "merge", "merge,": self = .merge(looks: last == "look")
    case "fetch": self = .fetch(last)
    case "rollback": self = .rollback
    case "undo": self = .undo
    case "redo": self = .redo
    case "drop": self = .dropUnused
    case "discard": self = .discardInvalidAndSave
    case "delete": self = .delete(Int(last) ?? 0)
    case "undelete": self = .undelete(Int(last) ?? 0)
    case "refresh" where last == "all": self = .refreshAll
    case "refresh":
      self = last == "changes" ? .discard(Int(words[1].filter { $0 != "," }) ?? 0) : .refresh(Int(last) ?? 0)
    case "updateAll": self = .updateAll(String(words[1].dropLast()), size: Int(last) ?? 0)
    case "deleteAll": self = .deleteAll(words[1], size: Int(last) ?? 0)
    case "read", "count":
      guard let (object, shape, _) = Self.end(words[1], rules, entities) else { return nil }
      self = .link(first == "read" ? .read(object, shape) : .count(object, shape))
    default: self.init(onObject: text, words, rules, entities)
    }
  }

  private init?(onObject text: Substring, _ words: [String], _ rules: Rules, _ entities: [Int: String]) {
    let path = words[0].split(separator: "(")[0]
    let parts = path.split(separator: ".").map(String.init)
    guard parts.count >= 2, let object = Int(parts[0]) else { return nil }
    let numbers = text.dropFirst(path.count).split { !$0.isNumber }.compactMap { Int($0) }
    switch parts[1] {
    case "rollback": self = .rollbackObject(object)
    case "label": self = text.hasSuffix("back") ? .labelAndBack(object) : .label(object, numbers.first ?? 0)
    case "size": self = .size(object, numbers.first ?? 0)
    case "nick": self = .nick(object, numbers.first)
    default:
      guard let (_, shape, call) = Self.end(String(path), rules, entities) else { return nil }
      switch call {
      case "append": self = .link(.append(object, shape, numbers[0]))
      case "insert": self = .link(.insertAt(object, shape, numbers[0], place: numbers[1]))
      case "remove": self = .link(.remove(object, shape, numbers[0]))
      case "move": self = .link(.move(object, shape, from: numbers[0], to: numbers[1]))
      case "contains": self = .link(.contains(object, shape, numbers[0]))
      default: self = .link(shape.isToMany ? .replace(object, shape, numbers) : .set(object, shape, numbers.first))
      }
    }
  }

  /// What `2.players.append` names.
  private static func end(
    _ text: String, _ rules: Rules, _ entities: [Int: String]
  ) -> (object: Int, shape: Shape, call: String?)? {
    let parts = text.split(separator: ".").map(String.init)
    guard parts.count >= 2, let object = Int(parts[0]), let entity = entities[object],
      let shape = rules.shapes.shapes(of: entity).first(where: { $0.name == parts[1] })
    else { return nil }
    return (object, shape, parts.count > 2 ? parts[2] : nil)
  }
}
