import Foundation
import Testing

/// Nobody can forget to run the kit, or a part of it: the sources themselves say which stores and which cases there are.
@Suite("Every store runs every case") struct ComplianceTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private func sources(_ folder: String) throws -> [String] {
    let folder = Self.root.appending(path: folder)
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted()
      .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
  }

  @Test("each store in Sources runs all cases and the random queries in a test")
  func stores() throws {
    let stores = try sources("Sources").flatMap { text in
      text.matches(of: /class (\w+)Store: Store\b/).map { String($0.1) }
    }
    #expect(stores.sorted() == ["JSON", "Memory", "Postgres", "SQLite"])
    let tests = try ["TrellisStoreTests", "TrellisStorageTests/JSON", "TrellisPostgresTests"].flatMap {
      try sources("Tests/\($0)")
    }
    let runs = tests.filter { $0.contains("StoreConformance.cases") && $0.contains("runDifferential") }
    for store in stores {
      let isRun = runs.contains { $0.contains("\(store)Store(") || $0.contains(".\(store.lowercased())(") }
      #expect(isRun, "\(store)Store does not run the kit")
    }
  }

  @Test("each file of cases is part of the kit")
  func cases() throws {
    let kit = try String(
      contentsOf: Self.root.appending(path: "Sources/TrellisStoreTesting/StoreConformance.swift"), encoding: .utf8)
    let suites = try sources("Sources/TrellisStoreTesting/Cases").flatMap { text in
      text.matches(of: /\nenum (\w+Cases)\b/).map { String($0.1) }
    }
    #expect(suites.count >= 15)
    for suite in suites { #expect(kit.contains("\(suite).all"), "\(suite) is not in the kit") }
  }
}
