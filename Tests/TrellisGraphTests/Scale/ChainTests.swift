import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@Suite("Long chains, cycles and diamonds") struct ChainTests {
  private static let length =
    TestSettings.number("TRELLIS_GRAPH_CHAIN", or: 20_000)

  private func makeContainer() throws -> PersistentContainer {
    try PersistentContainer(model: .rules, store: .memory) { _ in }
  }

  @Test("a chain of very many one-to-ones is saved, walked and deleted by cascade", arguments: [false, true])
  func chain(reloaded: Bool) throws {
    let container = try makeContainer()
    var context = container.newContext()
    var last = Bead(in: context)
    let first = last.objectID
    for _ in 1..<Self.length {
      let next = Bead(in: context)
      last.next = next
      last = next
    }
    try context.save()
    if reloaded {
      context = container.newContext()
      // Without their siblings each link would be a statement of its own.
      #expect(try context.fetch(Bead.all).count == Self.length)
    }
    var walked = 0
    var link = try context.object(with: first)
    while let current = link {
      walked += 1
      link = current.next
    }
    #expect(walked == Self.length)
    try context.delete(#require(try context.object(with: first)))
    #expect(try context.count(Bead.all) == 0)
    try context.save()
    #expect(try container.newContext().count(Bead.all) == 0)
  }

  @Test(
    "a chain on a server is walked down and up in few requests, each for more levels",
    .enabled(if: TestServer.isThere, "needs a server"))
  func levelsOnServer() throws {
    let requests = Locked(0)
    let log = QueryLog { _ in requests.withLock { $0 += 1 } }
    let configuration = StoreKind.postgres.configuration(in: try TestFolder())
    let container = try PersistentContainer(model: .rules, store: configuration, log: log) { _ in }
    let context = container.newContext()
    var nodes = [Tree(in: context)]
    for _ in 1..<1_000 {
      let node = Tree(in: context)
      node.parentSetNullifyNullify = nodes[nodes.count - 1]
      nodes.append(node)
    }
    try context.save()
    let (down, up) = (container.newContext(), container.newContext())
    let before = requests.withLock { $0 }
    var node = try down.object(with: nodes[0].objectID)
    var walked = 0
    while let current = node {
      walked += 1
      node = current.childrenSetNullifyNullify.first
    }
    let between = requests.withLock { $0 }
    node = try up.object(with: nodes[999].objectID)
    while let current = node {
      walked += 1
      node = current.parentSetNullifyNullify
    }
    #expect(walked == 2_000)
    #expect(between - before < 20, "down: \(between - before)")
    #expect(requests.withLock { $0 } - between < 20, "up: \(requests.withLock { $0 } - between)")
  }

  @Test("a ring of very many is deleted by one cascade, and comes back")
  func ring() throws {
    let context = try makeContainer().newContext()
    let links = (0..<Self.length).map { _ in Bead(in: context) }
    for (link, next) in zip(links, links[1...] + links[..<1]) { link.next = next }
    try context.save()
    try context.delete(links[Self.length / 2])
    let areDeleted = links.allSatisfy(\.isDeleted)
    #expect(areDeleted)
    context.rollback()
    #expect(links[0].next === links[1] && links[0].prior === links[Self.length - 1])
  }

  @Test("a diamond of cascades deletes what two ways lead to once, and what a third holds as well")
  func diamond() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let (top, left, right) = (Bead(in: context), Bead(in: context), Bead(in: context))
    let (bottom, other) = (Bead(in: context), Bead(in: context))
    top.leads = [left, right]
    left.leads = [bottom]
    right.leads = [bottom]
    other.leads = [bottom]
    try context.save()
    try context.delete(top)
    #expect(context.deletedObjects.count == 4 && other.leads.isEmpty)
    try context.save()
    #expect(try container.newContext().fetch(Bead.all).map(\.objectID) == [other.objectID])
  }

  @Test("layers of diamonds are no more than their objects")
  func layers() throws {
    let context = try makeContainer().newContext()
    var layer = [Bead(in: context)]
    let top = layer[0]
    for _ in 0..<(Self.length / 2) {
      let next = [Bead(in: context), Bead(in: context)]
      for mesh in layer { mesh.leads = ToMany(next) }
      layer = next
    }
    try context.delete(top)
    #expect(!context.hasChanges)
  }
}
