import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport
import TrellisTesting

@MainActor func previewContainer(_ fixture: URL) throws -> PersistentContainer {
  let container = try PersistentContainer(model: .diary, store: .memory)
  try Fixture(contentsOf: fixture).insert(into: container.mainContext)
  try container.mainContext.save()
  return container
}

@Suite("The pages about tests and integrations") struct TestingGuideTests {
  private static let integrations = "Packages/Integrations/Tests/IntegrationTests/Samples.swift"

  private func path(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: name).path
  }

  @Test("each sample of the page about tests is among those that are compiled and run")
  func testing() throws {
    let files = ["TrellisTestingTests/FixtureTests.swift", "TrellisTestingTests/SeedTests.swift"].map(path)
    #expect(
      try GuideText("Testing.md").samples(missingFrom: #filePath, files[0], files[1], path(Self.integrations)) == [])
  }

  @Test("the fixture of the page is that of the tests")
  func fixture() throws {
    let file = try String(contentsOfFile: path("TrellisTestingTests/Diaries.json"), encoding: .utf8)
    #expect(try GuideText("Testing.md").blocks("json").map { $0 + "\n" } == [file])
  }

  @Test("each sample of the page about integrations is in its package, whose tests run it")
  func samples() throws {
    #expect(try GuideText("Integrations.md").samples(missingFrom: path(Self.integrations)) == [])
  }

  @Test("a preview has the objects of its fixture")
  @MainActor func preview() throws {
    let container = try previewContainer(URL(filePath: path("TrellisTestingTests/Diaries.json")))
    #expect(try container.mainContext.count(EmotionDiary.all) == 2 && !container.mainContext.hasChanges)
  }
}
