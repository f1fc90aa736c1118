import ChaosWork
import Trellis

extension Operation {
  /// Does the operation in one save.
  ///
  /// - Returns: whether the objects to work on are there.
  static func perform(_ operation: Operation, in context: ManagedObjectContext) throws -> Bool {
    switch operation {
    case .insert(let key, let shelf):
      guard let shelf = try context.first(Shelf.where { $0.number == shelf }) else { return false }
      try Item(in: context, key: key, shelf: shelf).complete()
      try context.save()
    case .label(let key, let label):
      return try context.saveRetrying(atMost: 50) {
        guard let item = try context.first(Item.where { $0.key == key }),
          let label = try context.first(Label.where { $0.number == label })
        else { return false }
        item.labels.append(label)
        return true
      }
    case .delete(let key):
      guard let item = try context.first(Item.where { $0.key == key }) else { return false }
      try context.delete(item)
      try context.save()
    case .count(let number):
      return try context.saveRetrying(atMost: 100) {
        guard let counter = try context.first(Counter.where { $0.number == number }) else { return false }
        counter.value += 1
        return true
      }
    case .transfer(let key, let from, let to, let amount):
      return try context.saveRetrying(atMost: 100) {
        guard let source = try context.first(Account.where { $0.number == from }),
          let target = try context.first(Account.where { $0.number == to })
        else { return false }
        source.balance -= amount
        target.balance += amount
        _ = Transfer(in: context, key: key, amount: amount, source: source, target: target)
        return true
      }
    case .fill(let key):
      let basket = Basket(in: context, key: key)
      for number in 0..<3 { basket.lines.append(Line(in: context, number: Int64(number))) }
      try context.save()
    case .read(let key): return try context.exists(Item.where { $0.key == key })
    }
    return true
  }

  /// Makes the objects that all programs share.
  static func prepare(_ context: ManagedObjectContext) throws {
    for number in 0..<accounts { _ = Account(in: context, number: number, balance: firstBalance) }
    for number in 0..<counters { _ = Counter(in: context, number: number) }
    for number in 0..<shelves { _ = Shelf(in: context, number: number) }
    for number in 0..<labels { _ = Label(in: context, number: number) }
    try context.save()
  }
}
