import Foundation
import Testing
import Trellis
import TrellisPostgres
import TrellisTestSupport

/// Two contexts of one store that hear nothing of each other until they save.
struct WriterPair {
  enum Place: CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, oneContainer, postgres

    static let allCases: [Place] = [memory, sqlite, oneContainer] + (TestServer.isThere ? [postgres] : [])

    var testDescription: String {
      switch self {
      case .memory: "two containers, memory"
      case .sqlite: "two containers, SQLite"
      case .oneContainer: "one container"
      case .postgres: "two containers, PostgreSQL"
      }
    }
  }

  let first: ManagedObjectContext
  let second: ManagedObjectContext
  /// Objects are of no use without their context.
  private final class Readers {
    var contexts: [ManagedObjectContext] = []
  }

  private let readers = Readers()
  private let container: PersistentContainer
  private let file = TemporaryFile()

  init(_ place: Place) throws {
    let store: StoreConfiguration =
      switch place {
      case .memory: .memory(named: UUID().uuidString)
      case .sqlite, .oneContainer: .sqlite(at: file.url, durability: .relaxed)
      case .postgres: .postgres(TestServer.url, schema: TestServer.newSchema(), connections: 2, timeout: 300)
      }
    let one = try PersistentContainer(model: .conflicts, store: store) { _ in }
    let other = place == .oneContainer ? one : try PersistentContainer(model: .conflicts, store: store) { _ in }
    first = one.newContext()
    second = other.newContext()
    container = other
  }

  /// An object of the first context as the second one has it, its values loaded.
  func theirs<Object: IdentifiedObject>(_ object: Object) throws -> Object {
    try #require(try second.object(with: object.objectID))
  }

  /// What the store holds, whatever the contexts have in memory.
  func stored<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> [Columns.Object] {
    let context = container.newContext()
    readers.contexts.append(context)
    return try context.fetch(request)
  }
}
