import Foundation
import Testing
import Trellis

@Suite("The model's rules when many objects are changed", .serialized) struct UpdatingRulesTests {
  @Test("a broken rule refuses all, and names objects and properties", arguments: AnyStore.allCases)
  func rules(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    let items = try world.items(3)
    items[0].price = 10
    items[1].price = 600
    items[2].small = 30_000
    items[2].count = .max
    items[0].name = "long name"
    try context.save()
    func failures(_ changes: (Item.Columns) -> PropertyChange) throws -> [String] {
      do {
        try context.updateAll(Item.all) { changes($0) }
        return []
      } catch let error as ValidationError {
        return error.failures.map { "\($0.object.key - items[0].objectID.key) \($0.property) \($0.rule)" }
      }
    }
    #expect(try failures { $0.price.set(-1) } == ["0 price minimum"])
    #expect(try failures { $0.label.set("ABCDEFGH") } == ["0 label maximumLength", "0 label pattern"])
    #expect(try failures { $0.weight.set(.nan) } == ["0 weight notANumber"])
    #expect(try failures { $0.list.set(["1", "2", "3", "4"]) } == ["0 list maximumLength"])
    #expect(try failures { $0.price.multiply(by: 2) } == ["1 price maximum"])
    #expect(try failures { $0.price.increase(by: -20) } == ["0 price minimum"])
    #expect(try failures { $0.small.increase(by: 3000) } == ["2 small notANumber"])
    #expect(try failures { $0.count.increase(by: 1) } == ["2 count notANumber"])
    #expect(try failures { $0.label.set($0.code) } == [])
    #expect(items.map(\.price) == [10, 600, nil] && items[2].count == .max && items[0].label == nil)
    // Nobody gets it, so no rule is broken.
    #expect(try context.updateAll(Item.where { $0.name == "?" }) { $0.price.set(-1) } == 0)
    // Windows are judged by what they hold.
    #expect(try context.updateAll(Item.all.sorted { $0.price }.limit(2)) { $0.price.multiply(by: 2) } == 2)
    #expect(items.map(\.price) == [20, 600, nil])
  }

  @Test("what needs the objects is refused, with the way out", arguments: AnyStore.allCases)
  func unsupported(_ store: AnyStore) throws {
    let world = try World(store)
    let context = world.context
    try world.items(1)
    func refusal(_ body: () throws -> Int) throws -> String {
      do {
        return "\(try body())"
      } catch let error as StoreError {
        #expect(error.code == .unsupported && error.remedy.contains("stream"))
        return error.message
      }
    }
    #expect(
      try refusal { try context.updateAll(Item.all) { $0.code.set("x") } }
        == "Objects of Item cannot be changed all at once, as code is part of a unique key of Item.")
    #expect(try refusal { try context.updateAll(Watched.all) { $0.count.set(1) } }.contains("Watched.willSave"))
    #expect(try refusal { try context.deleteAll(Watched.all) }.contains("Watched.willDelete"))
    #expect(try refusal { try context.updateAll(Item.all) { $0.box.name.set("x") } }.contains("another object"))
    #expect(try refusal { try context.updateAll(Item.all) { $0.name.set($0.box.name) } }.contains("other objects"))
    #expect(try refusal { try context.updateAll(Item.all) { $0.ratio.increase(by: 1) } }.contains("float"))
    #expect(try refusal { try context.updateAll(Item.all) { $0.list.set($0.list) } }.contains("list"))
    #expect(try refusal { try context.updateAll(Item.all) { $0.row.set(nil) } }.contains("order"))
    #expect(try refusal { try context.updateAll(Seal.all) { $0.item.set(nil) } }.contains("one object"))
    #expect(try refusal { try context.updateAll(Room.all) { $0.club.set(nil) } }.contains("Club.rooms is counted"))
  }
}
