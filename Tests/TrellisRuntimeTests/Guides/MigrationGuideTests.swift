import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

// The samples of Docs/Migration.md, as they stand there.

private enum Samples {
  static func opened(_ url: URL) throws -> PersistentContainer {
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
    return container
  }

  static func printPlan(_ url: URL) throws {
    if let plan = try MigrationPlan(of: .sqlite(at: url), to: .diary) {
      print(plan)
    }
  }

  static func openedSlowly(_ url: URL) async throws -> PersistentContainer {
    let container = try await PersistentContainer.opening(model: .diary, store: .sqlite(at: url)) { progress in
      print(progress.fractionCompleted)
    }
    return container
  }

  static func unreleased(_ url: URL) -> StoreConfiguration {
    let store = StoreConfiguration.sqlite(at: url, migration: .allowingDataLoss)
    return store
  }
}

@Suite("The samples of the guide to migrations") struct MigrationGuideTests {
  private let file = TemporaryFile()

  @Test("a store that needs no migration has no plan, and opens with or without waiting")
  func current() async throws {
    try Samples.opened(file.url).close()
    let plan = try MigrationPlan(of: .sqlite(at: file.url), to: .diary)
    #expect(plan == nil)
    try Samples.printPlan(file.url)
    try await Samples.openedSlowly(file.url).close()
    try PersistentContainer(model: .diary, store: Samples.unreleased(file.url)).close()
  }

  @Test("every sample of the page is compiled here")
  func page() throws { #expect(try GuideText("Migration.md").samples(missingFrom: #filePath) == []) }
}
