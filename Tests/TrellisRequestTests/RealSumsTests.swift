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
}
