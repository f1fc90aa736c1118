import Trellis

/// Prints what is stored, a line for each object, as `ledger.py` expects it.
struct Dump {
  let container: PersistentContainer

  func run() throws {
    let context = container.newContext()
    for account in try context.fetch(Account.all) { print("account", account.number, account.balance) }
    for counter in try context.fetch(Counter.all) { print("counter", counter.number, counter.value) }
    // Rows that only make the tables large are left out.
    let items = Item.where { !$0.key.hasPrefix("filler.") }.prefetching { $0.shelf }.prefetching { $0.labels }
    try context.stream(items) { item in
      print("item", item.key, item.shelf?.number ?? -1)
      for label in item.labels { print("pair", item.key, label.number) }
    }
    try context.stream(Transfer.all.prefetching { $0.source }.prefetching { $0.target }) { transfer in
      print(
        "transfer", transfer.key, transfer.source?.number ?? -1, transfer.target?.number ?? -1, transfer.amount)
    }
    try context.stream(Basket.all.prefetching { $0.lines }) { basket in
      print("basket", basket.key, basket.lines.map { "\($0.number)" }.joined(separator: ","))
    }
    try dumpHistory(context)
    for finding in try container.check() { print("finding", finding) }
  }

  /// Compares the history with the items: each was inserted by one transaction.
  private func dumpHistory(_ context: ManagedObjectContext) throws {
    var inserted: [ObjectID<Item>: Int] = [:]
    var token: HistoryToken?
    while true {
      let page = try container.history(since: token, limit: 5_000)
      guard let last = page.last else { break }
      token = last.token
      for transaction in page {
        for change in transaction.changes(of: Item.self) {
          if case .inserted(let id) = change { inserted[id, default: 0] += 1 }
        }
      }
    }
    for (id, count) in inserted where count > 1 { print("history-twice", id, count) }
    try context.stream(Item.where { !$0.key.hasPrefix("filler.") }) { item in
      if inserted[item.objectID] == nil { print("history-lacks", item.key) }
    }
  }
}
