import Trellis
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

/// Runtime and reference side by side.
struct Duel {
  /// Where they differ, in words.
  struct Difference: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var reference: ReferenceWorld
  let live: LiveGraph
  /// The relationships that the test touches; the others are empty all the time.
  let touched: [Shape]
  /// Whether it is asked before deletes if they may be, which loads what they take along.
  private let asksBefore: Bool
  private(set) var saves = 0
  private(set) var refusals = 0
  private var history = StepHistory()
  /// Steps that were undone or done again.
  var undos: Int { history.turns }

  init(_ shapes: Shapes, _ live: LiveGraph, touched: [Shape], asksBefore: Bool = true) {
    self.asksBefore = asksBefore
    reference = ReferenceWorld(shapes)
    self.live = live
    self.touched = touched
  }

  // MARK: Steps

  mutating func apply(_ operation: Operation) throws {
    let before = reference.current
    try carryOut(operation)
    if let violation = live.context.graph.stateViolations().first {
      throw Difference(description: "the context is out of order: \(violation)")
    }
    // Only the tested context changes its parents.
    if let violation = live.context.linkViolations(hasMerged: true).first {
      throw Difference(description: "both ends: \(violation)")
    }
    switch operation {
    case .undo, .redo: break
    case .rollback, .reset, .newContext: history.clear()
    default: if live.undoes { live.context.undo.endStep(history.add(before, reference.current)) }
    }
  }

  private mutating func carryOut(_ operation: Operation) throws {
    switch operation {
    case .undo: try undo()
    case .redo: try redo()
    case .insert(let entity): try live.insert(entity, as: reference.insert(entity))
    case .save: try save()
    case .count(let object, let shape): try compareCount(object, shape)
    case .contains(let object, let shape, let partner): try compareContains(object, shape, partner)
    case .read(let object, let shape): try compare(live.object(object), object, shape, reference.current)
    case .fetch(let entity): try compareFetch(entity)
    case .delete(let object): try delete(object)
    case .deleteAndUndelete(let object, let isLookedAt): try deleteAndUndelete(object, isLookedAt)
    default:
      reference.apply(operation)
      try live.apply(operation)
    }
  }

  /// Every other delete is asked about before, and the answer has to be what a save would say: what the object itself or
  /// those whom it leaves behind would be refused for.
  private mutating func delete(_ number: Int) throws {
    let object = try live.object(number)
    let before = reference.failures
    let isAsked = asksBefore && number.isMultiple(of: 2)
    var found: Set<ReferenceWorld.Failure> = []
    if isAsked {
      do { try live.context.validateForDelete(object) } catch let refusal as ValidationError {
        found = failures(refusal)
      }
    }
    try live.context.delete(object)
    reference.delete(number)
    guard isAsked else { return }
    let after = reference.failures
    if !found.isSubset(of: after) || !after.subtracting(before).isSubset(of: found) {
      throw Difference(description: "asked beforehand, \(number) is refused for \(found), should be for \(after)")
    }
  }

  private func deleteAndUndelete(_ number: Int, _ isLookedAt: Bool) throws {
    let object = try live.object(number)
    try live.context.delete(object)
    defer { live.context.undelete(object) }
    guard isLookedAt else { return }
    var deleted = reference
    deleted.delete(number)
    try compare(deleted.current, in: live.context, "while deleted")
  }

  private func failures(_ error: ValidationError) -> Set<ReferenceWorld.Failure> {
    Set(
      error.failures.map {
        ReferenceWorld.Failure(
          object: live.number(ofKey: $0.key), relationship: $0.property, rule: $0.rule.rawValue)
      })
  }

  private mutating func undo() throws {
    let name = live.context.undo.undoName
    guard let graph = try history.undo(name) else { return }
    guard try live.context.undo.undo() else { throw Difference(description: "there is nothing to undo") }
    reference.restore(graph)
  }

  private mutating func redo() throws {
    let name = live.context.undo.redoName
    guard let step = try history.redo(name) else { return }
    guard try live.context.undo.redo() else { throw Difference(description: "there is nothing to do again") }
    reference.restore(step.after)
    reference.denyDeletes(since: step.before)
  }

  private mutating func save() throws {
    let expected = reference.failures
    do {
      try live.save()
    } catch let error as ValidationError {
      refusals += 1
      let found = failures(error)
      if found != expected { throw Difference(description: "the save failed for \(found), should for \(expected)") }
      return
    }
    guard expected.isEmpty else { throw Difference(description: "the save should have failed for \(expected)") }
    saves += 1
    reference.save()
    if live.context.hasChanges { throw Difference(description: "changes after a save") }
  }

  /// Takes note of a save that the test made by itself.
  mutating func noteSaved() { reference.save() }

  /// Carries out an operation during which a call of the store fails: then it must have done nothing, and somebody must have
  /// been told.
  ///
  /// - Returns: whether a call failed.
  mutating func apply(_ operation: Operation, failing call: Int, _ failure: FailureSwitch) throws -> Bool {
    let before = failure.failures
    let unchanged = self
    failure.set(.call(call))
    defer { failure.set(.off) }
    do {
      try apply(operation)
    } catch {
      guard failure.failures > before else { throw error }
      self = unchanged
      if error is Difference { try expectReport() }
      return true
    }
    guard failure.failures > before else { return false }
    self = unchanged
    try expectReport()
    return true
  }

  /// A failure that could not be thrown at once is thrown by the next fetch.
  private func expectReport() throws {
    do {
      _ = try EntityTable.access(touched.first?.entity ?? "").fetch(live.context)
    } catch is ContextError {
      return
    }
    throw Difference(description: "a failure was not told")
  }

  // MARK: Comparing

  /// Compares everything, in the context and, as it was last saved, in a fresh one.
  func compareAll() throws {
    try compareContext()
    try compareStored()
  }

  func compareContext() throws {
    try compare(reference.current, in: live.context, "in the context")
    if reference.hasChanges && !live.context.hasChanges { throw Difference(description: "changes went unnoticed") }
  }

  func compareStored() throws {
    for (level, reader) in try live.readers(isWritten: saves.isMultiple(of: 3)).enumerated() {
      try compare(reference.stored, in: reader, live.context.parent == nil ? "in the store" : "handed up \(level + 1)")
    }
  }

  private func compare(_ graph: ReferenceGraph, in context: ManagedObjectContext, _ place: String) throws {
    do {
      for (number, _) in graph.entities {
        let object = try live.find(number, in: context)
        guard graph.isLiving(number) else {
          if object != nil { throw Difference(description: "\(number) should be gone") }
          continue
        }
        guard let object else { throw Difference(description: "\(number) is missing") }
        if object.isDeleted { throw Difference(description: "\(number) says it is deleted") }
        for shape in touched where graph.shapes.isKind(graph.entities[number] ?? "", of: shape.entity) {
          try compare(object, number, shape, graph)
        }
      }
    } catch let difference as Difference {
      throw Difference(description: "\(place): \(difference)")
    }
  }

  private func compare(_ object: ManagedObject, _ number: Int, _ shape: Shape, _ graph: ReferenceGraph) throws {
    let expected = graph.reading(number, shape)
    let found = live.reading(object, shape)
    if found != (shape.isOrdered ? expected : expected.sorted()) {
      throw Difference(description: "\(number).\(shape.name) is \(found), should be \(expected)")
    }
    if shape.isToMany && live.members(object, shape).count != found.count {
      throw Difference(description: "\(number).\(shape.name) counts wrong")
    }
  }

  private func compareCount(_ number: Int, _ shape: Shape) throws {
    let members = try live.members(live.object(number), shape)
    let expected = reference.current.reading(number, shape).count
    if members.count != expected || members.isEmpty != (expected == 0) {
      throw Difference(description: "\(number).\(shape.name) counts \(members.count), should \(expected)")
    }
  }

  private func compareContains(_ number: Int, _ shape: Shape, _ partner: Int) throws {
    let found = try live.members(live.object(number), shape).contains(live.object(partner))
    if found != reference.current.reading(number, shape).contains(partner) {
      throw Difference(description: "\(number).\(shape.name) contains \(partner): \(found)")
    }
  }

  private func compareFetch(_ entity: String) throws {
    let found = try EntityTable.access(entity).fetch(live.context).map(live.number(of:)).filter { $0 > 0 }
    let graph = reference.current
    let expected = graph.living.filter { graph.shapes.isKind(graph.entities[$0] ?? "", of: entity) }
    if found != expected { throw Difference(description: "fetching \(entity) gives \(found), should \(expected)") }
  }
}

extension ReferenceWorld {
  /// Carries out an operation that changes what is in memory.
  mutating func apply(_ operation: Operation) {
    switch operation {
    case .set(let object, let shape, let partner): current.set(object, shape, partner)
    case .append(let object, let shape, let partner): current.connect(object, shape, partner)
    case .insertAt(let object, let shape, let partner, let place):
      current.connect(object, shape, partner, at: place)
    case .remove(let object, let shape, let partner):
      if current.reading(object, shape).contains(partner) { current.disconnect(object, shape, partner) }
    case .move(let object, let shape, let from, let to):
      let members = current.reading(object, shape)
      guard members.indices.contains(from), from != to else { return }
      current.connect(object, shape, members[from], at: to)
    case .replace(let object, let shape, let partners): current.replace(object, shape, partners)
    case .delete(let object): delete(object)
    case .discard(let object): discard(object)
    case .rollback, .reset, .newContext: rollback()
    default: break
    }
  }
}
