import Testing
import Trellis

@Suite("Deletes that are done again") struct RedoneDeleteTests {
  private let rules: Rules

  init() throws { rules = try Rules() }

  @Test("A delete with the rule deny is denied when it is done again", arguments: [true, false])
  func denied(isStored: Bool) throws {
    for shape in rules.shapes.all where shape.rule == .deny && isFree(shape) {
      #expect(throws: Never.self, "\(shape.entity).\(shape.name)") { try play(shape, isStored: isStored) }
    }
  }

  /// - Parameter isStored: Whether the object is stored before it is deleted for the first time.
  private func play(_ shape: Shape, isStored: Bool) throws {
    let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    let live = LiveGraph(container, rules, holdsObjects: true, undoes: true)
    let touched = [shape] + (shape.inverse.map { [rules.shapes.all[$0]] } ?? [])
    var duel = Duel(rules.shapes, live, touched: touched)
    let link: Operation = shape.isToMany ? .append(1, shape, 2) : .set(1, shape, 2)
    let inserts: [Operation] = [.insert(entity: shape.entity), .insert(entity: shape.destination)]
    for operation in inserts + (isStored ? [.save] : []) + [link, .delete(1), .undo, .save, .redo, .save] {
      try duel.apply(operation)
      try duel.compareAll()
    }
  }

  @Test("A delete that is done again is taken back with its links", arguments: [true, false])
  func undeleted(isStored: Bool) throws {
    for shape in rules.shapes.all where shape.rule == .nullify && isFree(shape) {
      let container = try PersistentContainer(model: .rules, store: .memory) { _ in }
      let live = LiveGraph(container, rules, holdsObjects: true, undoes: true)
      var duel = Duel(rules.shapes, live, touched: [shape])
      let link: Operation = shape.isToMany ? .append(1, shape, 2) : .set(1, shape, 2)
      for operation in [.insert(entity: shape.entity), .insert(entity: shape.destination), link] {
        try duel.apply(operation)
      }
      if isStored { try duel.apply(.save) }
      let object = try live.object(1)
      for operation: Operation in [.delete(1), .undo, .redo] { try duel.apply(operation) }
      live.context.undelete(object)
      #expect(live.reading(object, shape) == [2], "\(shape.entity).\(shape.name)")
    }
  }

  /// Whether objects may be without the relationship at both ends.
  private func isFree(_ shape: Shape) -> Bool {
    ([shape] + (shape.inverse.map { [rules.shapes.all[$0]] } ?? [])).allSatisfy { !$0.isRequired && $0.minimum == nil }
  }
}
