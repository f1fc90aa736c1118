import Testing
import Trellis
import TrellisTestSupport

@Suite("Denied deletes in children") struct ChildDenialTests {
  @Test("an object that lost its partner to another one can be deleted, also in a child", arguments: [0, 1, 2])
  func lostPartner(_ levels: Int) throws {
    let container = try PersistentContainer(model: .rules, store: .memory, log: nil)
    let root = container.newContext()
    for _ in 0..<3 { _ = Link(in: root) }
    try root.save()
    let ids = try root.fetch(Link.all).map(\.objectID)
    var contexts = [container.newContext()]
    for _ in 0..<levels { contexts.append(contexts[contexts.count - 1].newChildContext()) }
    let context = contexts[levels]
    let objects = try ids.map { try #require(try context.object(with: $0)) }
    objects[0].nextDenyNoAction = objects[1]
    try context.delete(objects[0])
    objects[2].nextDenyNoAction = objects[1]
    for context in contexts.reversed() { try context.save() }
    #expect(try root.count(Link.all) == 2)
  }
}
