import Foundation
import Hummingbird
import Trellis

/// What has changed, by whichever instance.
struct ChangePage: ResponseCodable {
  struct Transaction: Codable {
    let author: String?
    let changes: [Change]
  }

  struct Change: Codable {
    enum Kind: String, Codable { case inserted, updated, deleted }

    let kind: Kind
    let entity: String
    /// Nil for an object that was deleted later, whose delete is told then.
    let id: UUID?
    let properties: [String]
  }

  /// What to ask for as `since` the next time.
  let token: String
  let transactions: [Transaction]
}

struct ChangeRoutes {
  private static let largestPage = 1_000
  private let shop: ShopStore

  init(_ shop: ShopStore) { self.shop = shop }

  func add(to router: Router<BasicRequestContext>) {
    router.get("changes") { request, _ in
      try await changes(
        since: request.uri.queryParameters["since"].map(String.init),
        limit: request.uri.queryParameters.get("limit", as: Int.self) ?? 100)
    }
  }

  /// Reads the history. The first answer has only the token of the present.
  private func changes(since text: String?, limit: Int) async throws -> ChangePage {
    let container = shop.container
    let size = min(max(1, limit), Self.largestPage)
    return try await shop.perform { context in
      guard let text else { return ChangePage(token: try container.historyToken().description, transactions: []) }
      guard let token = HistoryToken(text) else { throw HTTPFailure.badToken }
      let transactions = try container.history(since: token, limit: size)
      return ChangePage(
        token: (transactions.last?.token ?? token).description,
        transactions: try transactions.map { transaction in
          ChangePage.Transaction(
            author: transaction.author,
            changes: try transaction.documents(of: Product.self) { try context.object(with: $0)?.id }
              + transaction.documents(of: Order.self) { try context.object(with: $0)?.id })
        })
    }
  }
}

extension HistoryTransaction {
  fileprivate func documents<Object: ManagedObject>(
    of type: Object.Type, _ id: (ObjectID<Object>) throws -> UUID?
  ) throws -> [ChangePage.Change] {
    try changes(of: type).map { change in
      let (kind, uuid, properties): (ChangePage.Change.Kind, UUID?, [String]) =
        switch change {
        case .inserted(let object): (.inserted, try id(object), [])
        case .updated(let object, let properties): (.updated, try id(object), properties)
        case .deleted(_, let tombstone): (.deleted, tombstone.value(of: "id", as: UUID.self), [])
        }
      return ChangePage.Change(kind: kind, entity: "\(type)", id: uuid, properties: properties)
    }
  }
}
