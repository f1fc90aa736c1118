import Foundation
import Testing
import Trellis

@Suite("Many writers of many objects", .serialized) struct SetContentionTests {
  @Test("no change is lost when several contexts change the same rows at once", arguments: AnyStore.allCases)
  func increments(_ store: AnyStore) async throws {
    let world = try World(store)
    try world.items(20)
    let container = world.container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let context = container.newContext()
          for _ in 0..<10 { try context.updateAll(Item.all) { $0.count.increase(by: 1) } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try container.newContext().fetch(Item.all).map(\.count) == (0..<20).map { Int64($0) + 40 })
  }

  @Test("members that others add meanwhile go with their owners, or keep them", arguments: AnyStore.allCases)
  func members(_ store: AnyStore) async throws {
    let world = try World(store)
    let container = world.container
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        let context = container.newContext()
        for _ in 0..<30 {
          let item = Item(in: context)
          for _ in 0..<3 { _ = Screw(in: context, part: Part(in: context, item: item)) }
          item.box = try context.first(Box.all)
          if item.box == nil { item.box = Box(in: context) }
          // Whoever was deleted meanwhile makes the save fail, and that is all.
          do { try context.save() } catch is ValidationError { context.rollback() }
        }
      }
      group.addTask {
        let context = container.newContext()
        for _ in 0..<30 {
          try context.deleteAll(Item.where { $0.box != nil }.limit(5))
          try context.deleteAll(Box.all)
        }
      }
      try await group.waitForAll()
    }
    let context = container.newContext()
    try context.deleteAll(Item.all)
    #expect(try context.count(Part.all) == 0 && context.count(Screw.all) == 0)
  }
}
