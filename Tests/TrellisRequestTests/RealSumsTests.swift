import Foundation
import Testing
import Trellis

@Suite("Sums of reals, by every way of asking", .serialized) struct RealSumsTests {
  @Test("aggregate, groups and conditions have one sum and one average", arguments: AnyStore.allCases)
  func oneSum(_ store: AnyStore) throws {
    let world = try World(store)
    let box = Box(in: world.context)
    for weight in [1e16, 3.0, 1e-9, -1e16, 1.0] {
      let item = Item(in: world.context)
      item.weight = weight
      item.price = 2
      box.items.append(item)
    }
    try world.context.save()
    let (sum, average) = try world.context.aggregate(Item.all) { ($0.weight.sum, $0.weight.average) }
    #expect(sum == 4.000000001 && average == 4.000000001 / 5)
    #expect(try world.context.grouped(Item.all, by: { $0.box }) { $0.weight.sum }.map(\.value) == [4.000000001])
    #expect(
      try world.context.count(Box.where("items.@sum.weight == %@ AND items.@avg.weight == %@", sum, sum / 5)) == 1)
    #expect(try world.context.count(Box.where { $0.items.sum { $0.weight } == 4.000000001 }) == 1)
  }

  @Test("an average of decimals rounds its last digit, as it does in conditions", arguments: AnyStore.allCases)
  func decimals(_ store: AnyStore) throws {
    let world = try World(store)
    let box = Box(in: world.context)
    for price in [1, 1, 0] {
      let item = Item(in: world.context)
      item.price = Decimal(price)
      box.items.append(item)
    }
    try world.context.save()
    let average = try #require(try world.context.aggregate(Item.all) { $0.price.average })
    #expect(average.description.hasSuffix("67"))
    #expect(try world.context.count(Box.where("items.@avg.price == %@", average)) == 1)
  }

  @Test(
    "a sum of quotients rounds its last digit, as + and conditions do, and one that fits is exact",
    arguments: AnyStore.allCases, [false, true])
  func quotients(_ store: AnyStore, isSaved: Bool) throws {
    let third = try #require(Decimal(string: "3.3333333333333333333333333333333333333"))
    let large = try #require(Decimal(string: "33.333333333333333333333333333333333333"))
    let lists: [(prices: [Decimal], sum: String)] = [
      ([large, third], "36.666666666666666666666666666666666666"),
      ([large, large, large, third], "103.33333333333333333333333333333333333"),
      ([third, Decimal(999)], "1002.3333333333333333333333333333333333"),
      ([large, large], "66.666666666666666666666666666666666666"),
      ([Decimal(string: "0.1"), Decimal(string: "0.2")].compactMap(\.self), "0.3"),
    ]
    for (prices, expected) in lists {
      let world = try World(store)
      let context = world.context
      let box = Box(in: context)
      for price in prices {
        let item = Item(in: context)
        item.price = price
        box.items.append(item)
      }
      if isSaved { try context.save() }
      let place: Comment = "\(prices)"
      let sum = try context.aggregate(Item.all) { $0.price.sum }
      // 38 digits, the last one rounded half to even.
      #expect(sum == Decimal(string: expected), place)
      #expect(try context.grouped(Item.all, by: { $0.box }) { $0.price.sum }.map(\.value) == [sum], place)
      let groups = try context.grouped(Item.all, by: { $0.box }) {
        $0.price.sum
      } having: {
        $0.price.sum == sum
      }
      #expect(groups.count == 1, place)
      #expect(try context.count(Box.where { $0.items.sum { $0.price } == sum }) == 1, place)
      #expect(try context.count(Box.where("items.@sum.price == %@", sum)) == 1, place)
    }
  }

  @Test("a sum beyond the range of decimals is refused", arguments: AnyStore.allCases)
  func tooLarge(_ store: AnyStore) throws {
    let world = try World(store)
    for _ in 0..<20 { Item(in: world.context).price = .greatestFiniteMagnitude / 10 }
    let error = #expect(throws: StoreError.self) { try world.context.aggregate(Item.all) { $0.price.sum } }
    #expect(error?.code == .limit)
  }
}
