import Testing
import Trellis
import TrellisTestSupport

@Suite("Denied deletes in children") struct ChildDenialTests {
  @Test("an object that lost its partner to another one can be deleted, also in a child", arguments: [0, 1, 2])
  func lostPartner(_ levels: Int) throws {
    let world = try World(levels: levels)
    let (lost, partner, other) = (world.objects[0], world.objects[1], world.objects[2])
    lost.nextDenyNoAction = partner
    try world.context.delete(lost)
    other.nextDenyNoAction = partner
    try world.saveAll()
    #expect(try world.storedCount == 2)
  }

  @Test("the same holds after a refused save, if the other object had the partner before", arguments: [0, 1, 2])
  func regainedPartner(_ levels: Int) throws {
    let world = try World(levels: levels)
    let (lost, partner, other) = (world.objects[0], world.objects[1], world.objects[2])
    other.nextDenyNoAction = partner
    try world.saveAll()
    lost.nextDenyNoAction = partner
    try world.context.delete(lost)
    #expect(throws: ValidationError.self) { try world.context.save() }
    other.nextDenyNoAction = partner
    try world.saveAll()
    #expect(try world.storedCount == 2)
  }

  @Test("the same holds after another context has saved the partner")
  func partnerSavedElsewhere() throws {
    let world = try World(levels: 0)
    let (lost, partner, other) = (world.objects[0], world.objects[1], world.objects[2])
    lost.nextDenyNoAction = partner
    try world.context.delete(lost)
    let elsewhere = world.container.newContext()
    let twins: [Link] = try [other, partner].map { try #require(try elsewhere.object(with: $0.objectID)) }
    twins[0].nextDenyNoAction = twins[1]
    try elsewhere.save()
    other.nextDenyNoAction = partner
    try world.context.save(mergePolicy: .objectTrump)
    #expect(try world.storedCount == 2)
  }

  /// Three saved objects, in a context a number of levels above the store.
  private struct World {
    let container: PersistentContainer
    let contexts: [ManagedObjectContext]
    let objects: [Link]

    init(levels: Int) throws {
      container = try PersistentContainer(model: .rules, store: .memory, log: nil)
      let first = container.newContext()
      for _ in 0..<3 { _ = Link(in: first) }
      try first.save()
      let ids = try first.fetch(Link.all).map(\.objectID)
      var contexts = [container.newContext()]
      for _ in 0..<levels { contexts.append(contexts[contexts.count - 1].newChildContext()) }
      self.contexts = contexts
      let context = contexts[levels]
      objects = try ids.map { try #require(try context.object(with: $0)) }
    }

    var context: ManagedObjectContext { contexts[contexts.count - 1] }

    var storedCount: Int {
      get throws { try container.newContext().count(Link.all) }
    }

    func saveAll() throws {
      for context in contexts.reversed() { try context.save() }
    }
  }
}
