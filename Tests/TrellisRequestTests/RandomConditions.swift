import Foundation
import Trellis
import TrellisTestSupport

/// Conditions on items by chance, through every door that looks at the row, at partners and at members.
struct RandomConditions {
  var random: SeededGenerator

  mutating func condition(_ depth: Int = 2) -> @Sendable (Item.Columns) -> QueryCondition {
    guard depth > 0, random.below(3) > 0 else { return leaf() }
    let (left, right) = (condition(depth - 1), condition(depth - 1))
    switch random.below(3) {
    case 0: return { left($0) && right($0) }
    case 1: return { left($0) || right($0) }
    default: return { !left($0) }
    }
  }

  private mutating func leaf() -> @Sendable (Item.Columns) -> QueryCondition {
    let number = Int64(random.below(8))
    let text = ["", "a", "b", "ab", "É"][random.below(5)]
    switch random.below(16) {
    case 0: return { $0.count < number }
    case 1: return { $0.count == number }
    case 2: return { $0.price == nil }
    case 3: return { $0.price > Decimal(number * 100) }
    case 4: return { $0.label == text }
    case 5: return { $0.label.contains(text, .caseInsensitive) }
    case 6: return { $0.box.name == text }
    case 7: return { $0.box == nil }
    case 8: return { $0.tags.any { $0.name == text } }
    case 9: return { $0.parts.count >= Int(number / 2) }
    case 10: return { $0.status == .open }
    case 11: return { $0.weight <= Double(number) / 2 }
    case 12: return { $0.small != nil }
    case 13: return { $0.left == nil }
    case 14: return { $0.left.name != text }
    default: return { $0.kept.size > number }
    }
  }

  mutating func request() -> FetchRequest<Item.Columns> {
    let condition = condition()
    var request = Item.where { condition($0) }
    switch random.below(6) {
    case 0: request = request.sorted { $0.count.descending }.limit(random.below(5))
    case 1: request = request.sorted { $0.label }.offset(random.below(4))
    case 2: request = request.withoutSubentities()
    default: break
    }
    return request
  }
}

extension World {
  /// Items with values, partners and members by chance, nils among them.
  func fill(_ random: inout SeededGenerator, items count: Int) throws {
    let texts = ["", "a", "b", "ab", "É"]
    let boxes = (0..<4).map { number in
      let box = Box(in: context)
      box.name = texts[number]
      box.size = Int64(number * 3)
      return box
    }
    let marks = (0..<3).map { number in
      let mark = Mark(in: context)
      mark.name = texts[number]
      return mark
    }
    let crates = (0..<5).map { number in
      let crate = Crate(in: context)
      crate.name = texts[number]
      return crate
    }
    let gone = Box(in: context)
    for crate in crates where random.below(2) == 0 { crate.outer = crates[random.below(5)] }
    for _ in 0..<count {
      let item = random.below(4) == 0 ? Rare(in: context) : Item(in: context)
      item.count = Int64(random.below(8))
      item.name = texts[random.below(5)]
      item.label = random.below(3) == 0 ? nil : texts[random.below(4)]
      item.small = random.below(3) == 0 ? nil : Int16(random.below(100))
      item.price = random.below(3) == 0 ? nil : Decimal(random.below(8000)) / 10
      item.weight = random.below(3) == 0 ? nil : Double(random.below(20)) / 4
      item.status = random.below(2) == 0 ? .open : .closed
      if random.below(2) == 0 { item.box = boxes[random.below(4)] }
      if random.below(3) == 0 { boxes[random.below(4)].queue.append(item) }
      if random.below(4) == 0 { item.kept = boxes[random.below(2)] }
      if random.below(3) == 0 { item.left = random.below(2) == 0 ? gone : boxes[random.below(4)] }
      if random.below(2) == 0 { crates[random.below(5)].items.append(item) }
      if random.below(4) == 0 { crates[random.below(5)].lid = item }
      for mark in marks where random.below(3) == 0 { item.tags.append(mark) }
      for _ in 0..<random.below(3) { _ = Screw(in: context, part: Part(in: context, item: item)) }
      if random.below(4) == 0 { _ = Seal(in: context, item: item) }
    }
    try context.save()
    // What it leaves behind leads nowhere.
    try context.delete(gone)
    let items = try context.fetch(Item.all)
    for item in items where random.below(4) == 0 { item.other = items[random.below(items.count)] }
    try context.save()
  }

  /// Everything that the store holds, as text, but for versions: as a new context sees it, or one that has been there.
  func picture(in context: ManagedObjectContext? = nil) throws -> [String] {
    let context = context ?? container.newContext()
    var lines: [String] = []
    for item in try context.fetch(Item.all) {
      let parts = item.parts.map { "\($0.objectID)\($0.screws.map(\.objectID))" }
      lines.append(
        "\(item.snapshot) \(parts) \(item.tags.map(\.name).sorted()) \(String(describing: item.seal?.objectID))")
    }
    for box in try context.fetch(Box.all) {
      let members = [box.items.map(\.objectID), box.queue.map(\.objectID), box.kept.map(\.objectID)]
      lines.append("\(box.snapshot) \(members) \(box.left.map(\.objectID))")
    }
    for crate in try context.fetch(Crate.all) {
      let (items, inner) = (crate.items.map(\.objectID), crate.inner.map(\.objectID))
      lines.append("\(crate.snapshot) \(items) \(inner) \(String(describing: crate.lid?.objectID))")
    }
    lines += try context.fetch(Part.all).map { "\($0.snapshot)" } + context.fetch(Screw.all).map { "\($0.snapshot)" }
    return try lines + context.fetch(Seal.all).map { "\($0.snapshot)" }
      + context.fetch(Mark.all).map { "\($0.snapshot)" }
  }
}
