package import Trellis
import TrellisJSON
import TrellisPostgres

/// The stores that rules are tried on.
package enum StoreKind: String, CaseIterable, Sendable {
  case memory, sqlite, json, postgres

  package static let allCases: [StoreKind] = [memory, sqlite, json] + (TestServer.isThere ? [postgres] : [])

  /// The stores that do not write everything at each save.
  package static let inPlace: [StoreKind] = [memory, sqlite] + (TestServer.isThere ? [postgres] : [])

  /// The stores that record histories.
  package static let withHistory = allCases.filter { $0 == .sqlite || $0 == .postgres }

  /// Whether the store keeps dates before 4714-11-24 BC.
  package var keepsAllDates: Bool { self != .postgres }
  /// Whether the store keeps texts with U+0000.
  package var keepsZeroCharacters: Bool { self != .postgres }

  /// A store in a folder. A store in memory is one of its own, whatever the folder.
  package func configuration(in folder: TestFolder, durability: Durability = .relaxed) -> StoreConfiguration {
    switch self {
    case .memory: .memory
    case .sqlite: .sqlite(at: folder.file("store.sqlite"), durability: durability)
    case .json: .json(at: folder.file("store.json"), durability: durability)
    case .postgres: .postgres(TestServer.url, schema: folder.url.lastPathComponent, connections: 4, timeout: 300)
    }
  }
}
