import Testing
import Trellis
import TrellisTestSupport

@_spi(Generated) @testable import TrellisRuntime

/// What is written to an object that cannot keep it is ignored, and said.
@Suite("Writes to objects that are deleted or in no context") struct IgnoredWriteTests {
  /// How an object came to be one that cannot be written to.
  enum End: CaseIterable, Sendable { case deleted, deletedAndSaved, withdrawn, reset, gone, contextGone }

  /// A call that changes a to-many of an object.
  struct Mutator: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let carryOut: @Sendable (OrderedToMany<ManagedObject>, ManagedObject) -> Void

    static let ordered: [Mutator] = [
      Mutator("insert") { $0.insert($1, at: 0) },
      Mutator("insert(contentsOf:)") { $0.insert(contentsOf: [$1], at: 0) },
      Mutator("remove(at:)") { list, _ in list.remove(at: 0) },
      Mutator("remove(atOffsets:)") { list, _ in list.remove(atOffsets: [0]) },
      Mutator("move") { list, _ in list.move(from: 0, to: 1) },
      Mutator("move(fromOffsets:)") { list, _ in list.move(fromOffsets: [0], toOffset: 2) },
      Mutator("sort") { list, _ in list.sort { $0._key > $1._key } },
      Mutator("swapAt") { list, _ in list.swapAt(0, 1) },
    ]
    static let all: [Mutator] =
      ordered + [
        Mutator("append") { $0.append($1) },
        Mutator("append(contentsOf:)") { $0.append(contentsOf: [$1]) },
        Mutator("+=") { $0 += [$1] },
        Mutator("remove") { $0.remove($1) },
        Mutator("removeAll") { list, _ in list.removeAll() },
        Mutator("removeAll(where:)") { list, _ in list.removeAll { _ in true } },
        Mutator("replaceAll") { $0.replaceAll(with: [$1]) },
      ]

    private init(_ name: String, _ carryOut: @escaping @Sendable (OrderedToMany<ManagedObject>, ManagedObject) -> Void)
    {
      testDescription = name
      self.carryOut = carryOut
    }
  }

  /// An object of an entity that cannot be written to, and what holds on to it.
  private struct Stage {
    let problems = ReportedErrors()
    let container: PersistentContainer
    private(set) var context: ManagedObjectContext?
    let object: ManagedObject
    let partner: ManagedObject

    init(_ end: End, _ shape: Shape) throws {
      container = try PersistentContainer(model: .village, store: .memory) { [problems] in problems.add($0) }
      let context = container.newContext()
      self.context = context
      func make(_ entity: String) throws -> ManagedObject { try VillageTable.access(entity).insert(context) }
      (object, partner) = (try make(shape.entity), try make(shape.destination))
      // What is required has to be there for a save.
      for case let boat as Boat in [object, partner] where boat.owner == nil { boat.owner = Villager(in: context) }
      for case let leaf as Leaf in [object, partner] where leaf.branch == nil { leaf.branch = Branch(in: context) }
      if end != .withdrawn { try context.save() }
      switch end {
      case .deleted, .withdrawn: try context.delete(object)
      case .deletedAndSaved:
        try context.delete(object)
        try context.save()
      case .reset: context.reset()
      case .gone:
        let other = container.newContext()
        try other.delete(#require(try VillageTable.access(shape.entity).find(other, object._key)))
        try other.save()
        context.mergeChanges()
      case .contextGone: self.context = nil
      }
    }
  }

  @Test("each change of a to-many is reported once as ignored", arguments: End.allCases)
  func toManys(end: End) throws {
    for shape in try Rules(.village).shapes.all where shape.isToMany {
      let property = try Rules(.village).properties[shape.index]
      for mutator in Mutator.all {
        let stage = try Stage(end, shape)
        let list = OrderedToMany<ManagedObject>(stage.object, property)
        mutator.carryOut(list, stage.partner)
        #expect(stage.problems.codes == [.ignoredWrite], "\(shape.entity).\(shape.name), \(mutator.testDescription)")
        #expect(list.isEmpty, "\(shape.entity).\(shape.name), \(mutator.testDescription)")
      }
    }
  }

  @Test("each change of a to-one is reported once as ignored", arguments: End.allCases, [false, true])
  func toOnes(end: End, isNil: Bool) throws {
    for shape in try Rules(.village).shapes.all where !shape.isToMany {
      let stage = try Stage(end, shape)
      stage.object._setPartner(try Rules(.village).properties[shape.index], isNil ? nil : stage.partner)
      #expect(stage.problems.codes == [.ignoredWrite], "\(shape.entity).\(shape.name)")
    }
  }

  @Test("a value is reported as ignored", arguments: End.allCases)
  func attributes(end: End) throws {
    let shape = try #require(try Rules(.village).shapes.all.first { $0.entity == "Band" })
    let stage = try Stage(end, shape)
    (stage.object as? Band)?.label = "x"
    #expect(stage.problems.codes == [.ignoredWrite])
  }

  @Test(
    "a deleted object is no new partner, which is another mistake", arguments: [End.deleted, .deletedAndSaved, .reset])
  func partners(end: End) throws {
    let shape = try #require(try Rules(.village).shapes.all.first { $0.entity == "Band" })
    let stage = try Stage(end, shape)
    guard let context = stage.context else { return }
    Villager(in: context).bands.append(try #require(stage.object as? Band))
    #expect(stage.problems.codes == [.foreignObject])
  }
}
