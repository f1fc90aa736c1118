import Foundation
import Hummingbird
import HummingbirdTesting
import Testing
import Trellis
import TrellisSync

@testable import Shop

/// A till: a store on a device, which exchanges with the shop.
private struct Till {
  let folder: URL
  let container: PersistentContainer
  let replica: Replica

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "till-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try self.init(in: folder)
  }

  init(in folder: URL) throws {
    self.folder = folder
    container = try PersistentContainer(model: .shop, store: .sqlite(at: folder.appending(path: "till.sqlite")))
    replica = try Replica(container)
  }

  func close() {
    container.close()
    try? FileManager.default.removeItem(at: folder)
  }

  func sell(_ product: UUID, _ quantity: Int64, to customer: String) throws {
    let context = container.newContext()
    guard let product = try context.first(Product.where { $0.id == product }) else { return }
    let order = Order(in: context, customer: customer)
    order.lines.append(OrderLine(in: context, quantity: quantity, product: product))
    product.stock -= quantity
    try context.save()
  }

  func contents() throws -> Contents { try Contents(container.newContext()) }
}

/// What a store has, as text.
private struct Contents: Equatable {
  var products: [String]
  var orders: [String]

  init(_ context: ManagedObjectContext) throws {
    products = try context.fetch(Product.all).map { "\($0.id) \($0.name) \($0.price) \($0.stock)" }.sorted()
    orders = try context.fetch(Order.all).map { order in
      "\(order.id) \(order.customer) \(order.lines.map { "\($0.quantity) \($0.product?.id.uuidString ?? "")" })"
    }.sorted()
  }
}

@Suite(
  "Tills that exchange with a shop", .serialized,
  .enabled(if: TestDatabase.isThere, "needs PostgreSQL or TRELLIS_POSTGRES_URL"))
struct SyncTests {
  @Test("A till sells without a network, and the shop has it afterwards") func sale() async throws {
    let server = try ShopServer(TestDatabase.settings())
    defer { server.close() }
    try await server.application.test(.live) { client in
      let shop = ShopClient(client)
      let tea = try await shop.product("Tea", stock: 10)
      let port = try #require(client.port)
      let transport = HTTPTransport(try #require(URL(string: "http://127.0.0.1:\(port)/sync")))
      let tills = [try Till(), try Till()]
      defer { for till in tills { till.close() } }
      for till in tills { try await till.replica.exchange(with: transport) }
      try tills[0].sell(tea.id, 2, to: "Ada")
      try tills[1].sell(tea.id, 3, to: "Grace")
      for till in tills + tills { #expect(try await till.replica.exchange(with: transport).conflicts == []) }
      // Each has taken its own out of the same stock.
      #expect(try await shop.get("/products/\(tea.id)").decoded(as: ProductDocument.self).stock == 5)
      #expect(try tills[0].contents() == tills[1].contents())
      #expect(try tills[0].contents().orders.count == 2)
    }
  }

  @Test("What is no message gets an answer that says so") func hostile() async throws {
    let server = try ShopServer(TestDatabase.settings())
    defer { server.close() }
    try await server.application.test(.router) { client in
      for body in ["", "tea", String(repeating: "\u{1}", count: 10_000)] {
        try await client.execute(uri: "/sync", method: .post, body: ByteBuffer(string: body)) { response in
          #expect(response.status == .ok)
          #expect(response.body.readableBytes > 2)
        }
      }
    }
  }

  private static func number(_ name: String, or usual: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
  }

  /// `TRELLIS_TILLS`, `TRELLIS_TILL_ROUNDS` and `TRELLIS_TILL_SERVERS` set the numbers of processes and of changes.
  @Test(
    "Tills, servers and their database are killed again and again, and are alike in the end",
    .enabled(if: Cluster.isPossible, "needs PostgreSQL"))
  func killedProcesses() async throws {
    let rounds = Self.number("TRELLIS_TILL_ROUNDS", or: 5)
    let cluster = try Cluster()
    let settings = try TestDatabase.settings(cluster.url)
    let shop = try PersistentContainer(model: .shop, store: .postgres(settings.databaseURL, schema: settings.schema))
    defer { shop.close() }
    let context = shop.newContext()
    for number in 0..<3 { Product(in: context, name: "Good \(number)", price: 1).stock = 1_000_000 }
    try context.save()

    let servers = (0..<Self.number("TRELLIS_TILL_SERVERS", or: 2)).map { number in
      var settings = settings
      settings.instance = "server \(number)"
      return ServerProcess(settings)
    }
    for server in servers { try await server.start() }
    let urls = servers.map(\.url.absoluteString)
    let tills = try (0..<Self.number("TRELLIS_TILLS", or: 6)).map { _ in try Till() }
    defer { for till in tills { till.close() } }
    let programs = tills.enumerated().map { number, till in
      till.container.close()
      return ProgramProcess("shop-till", [till.folder.path, "\(number)", "\(rounds)"] + urls)
    }
    for program in programs { try program.start() }

    var kills = [0, 0, 0]
    // The process is drawn from all tills: kills of the last running one only would not let it end.
    while programs.contains(where: { !$0.hasSucceeded }), let till = programs.randomElement() {
      try await Task.sleep(for: .milliseconds(.random(in: 50...700)))
      for (number, program) in programs.enumerated() where program.hasFailed {
        Issue.record("till \(number) has failed")
        return
      }
      switch Int.random(in: 0..<20) {
      case 0:
        try cluster.stop("immediate")
        try cluster.start()
        kills[2] += 1
      case 1..<6:
        guard let server = servers.randomElement() else { break }
        server.kill()
        try await server.start()
        kills[1] += 1
      default:
        if till.hasSucceeded { break }
        till.kill()
        try till.start()
        kills[0] += 1
      }
    }
    print("\(kills[0]) tills, \(kills[1]) servers and \(kills[2]) databases were killed")
    try await expectAlike(tills.map(\.folder), urls: servers.map(\.url), rounds, shop.newContext())
  }

  /// Checks what tills that have ended and their shop have.
  private func expectAlike(
    _ folders: [URL], urls: [URL], _ rounds: Int, _ context: ManagedObjectContext
  ) async throws {
    var last: Contents?
    for (number, folder) in folders.enumerated() {
      let till = try Till(in: folder)
      defer { till.container.close() }
      while true {
        do {
          try await till.replica.exchange(with: HTTPTransport(urls[number % urls.count]))
          break
        } catch let error as SyncError where [.unreachable, .busy, .serverFailed].contains(error.code) {}
      }
      let contents = try till.contents()
      if let last { #expect(contents == last, "till \(number)") }
      last = contents
      #expect(try till.container.check().isEmpty, "till \(number)")
      // What a till has not got is a price that another one has changed later.
      for conflict in try till.replica.conflicts() {
        #expect(conflict.reason == nil && conflict.losses.allSatisfy { $0.property == "price" }, "\(conflict)")
      }
      #expect(contents.orders.contains { $0.contains(" \(number).\(rounds) ") }, "the last order of till \(number)")
    }
    #expect(try last == Contents(context))
    let sold = try context.fetch(Product.all).map { 1_000_000 - $0.stock }.reduce(0, +)
    #expect(Int(sold) == (try context.count(Order.all)))
  }
}
