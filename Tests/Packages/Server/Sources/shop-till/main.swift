// A till in a process of its own: it sells, cancels and changes prices, and exchanges with the shop after each save. One that was
// killed goes on where it has ended.
//
//   shop-till FOLDER NUMBER ROUNDS URL...

import Foundation
import Shop
import Trellis
import TrellisSync

let words = CommandLine.arguments.dropFirst()
let folder = URL(filePath: words[1])
guard let number = Int(words[2]), let rounds = Int(words[3]) else { exit(2) }
let urls = words.dropFirst(3).compactMap { URL(string: $0) }

let container = try PersistentContainer(model: .shop, store: .sqlite(at: folder.appending(path: "till.sqlite")))
let replica = try Replica(container)

/// Exchanges with any of the servers. One that is away is tried again.
func exchange() async throws {
  while let url = urls.randomElement() {
    do {
      try await replica.exchange(with: HTTPTransport(url, timeout: .seconds(60), attempts: 1))
      return
    } catch let error as SyncError where [.unreachable, .busy, .serverFailed].contains(error.code) {
      try await Task.sleep(for: .milliseconds(.random(in: 10...200)))
    }
  }
}

/// The orders of this till, in their order.
func ownOrders(_ context: ManagedObjectContext) throws -> [(round: Int, order: Order)] {
  let orders = try context.fetch(Order.where { $0.customer.hasPrefix("\(number).") })
  return orders.compactMap { order in
    order.customer.split(separator: ".").last.flatMap { Int($0) }.map { ($0, order) }
  }.sorted { $0.0 < $1.0 }
}

/// Makes a change in one save.
///
/// - Returns: false if all rounds are over.
func change() throws -> Bool {
  let context = container.newContext()
  let own = try ownOrders(context)
  let round = (own.last?.round ?? 0) + 1
  if round > rounds { return false }
  guard let product = try context.fetch(Product.all).randomElement() else { return true }
  switch Int.random(in: 0..<10) {
  case 0:
    product.price = Decimal(Int.random(in: 1...100))
  case 1:
    // Never the last one, by which the rounds are counted.
    guard let order = own.dropLast().randomElement()?.order else { return true }
    for line in order.lines { line.product?.stock += line.quantity }
    try context.delete(order)
  default:
    let order = Order(in: context, customer: "\(number).\(round)")
    order.lines.append(OrderLine(in: context, quantity: 1, product: product))
    product.stock -= 1
  }
  try context.save()
  return true
}

repeat { try await exchange() } while try change()
