import DiaryModel
import DiaryScreens
import Foundation
import StubSwiftUI
import Testing
import Trellis
import TrellisUI

/// Each test drives the app's views and counts the evaluations of their bodies: one for each change, none without one.
@MainActor @Suite("The screens of an app") struct DiaryScreenTests {
  private let container: PersistentContainer
  private let stage: Stage

  init() throws {
    container = try PersistentContainer(previewing: .diary, SampleEntries.seed)
    stage = Stage(DiaryScreen().trellisContainer(container))
    #expect(stage.evaluations() == ["DiaryScreen": 1, "EntryList": 1, "EntryRow": 3])
  }

  /// Saves changes of another context.
  private func elsewhere(_ body: @Sendable @escaping (ManagedObjectContext) throws -> Void) async throws {
    try await container.perform { context in
      try body(context)
      try context.save()
    }
  }

  nonisolated private func entry(_ text: String, in context: ManagedObjectContext) throws -> EmotionDiary {
    try #require(try context.first(EmotionDiary.where { $0.content == text }))
  }

  @Test("the list has the entries by month") func list() {
    #expect(
      stage.lines == [
        "Diary", "[Mark]", "[New]", "Search: ", "# 1970-02", "[바다]", "# 1970-01", "[산책하고 커피]", "[비]",
      ])
  }

  @Test("a change of another state of the screen does not evaluate the list") func unrelatedState() {
    stage.tap("Mark")
    #expect(stage.evaluations() == ["DiaryScreen": 1] && stage.lines[0] == "Diary *")
  }

  @Test("each letter of a search evaluates the screen and the list once, and rows that were there keep their objects")
  func search() async throws {
    #expect(stage.type("비", into: "Search"))
    #expect(stage.evaluations() == ["DiaryScreen": 1, "EntryList": 1])
    #expect(stage.lines.suffix(2) == ["# 1970-01", "[비]"])
    stage.type("비", into: "Search")
    #expect(stage.evaluations() == ["DiaryScreen": 1], "the same text is the same request")
    stage.type("", into: "Search")
    #expect(stage.evaluations() == ["DiaryScreen": 1, "EntryList": 1, "EntryRow": 2], "rows that come back are new")
    try await elsewhere { _ = EmotionDiary(in: $0, emotion: .calm, content: "x") }
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 1], "the former requests are followed no more")
  }

  @Test("a save elsewhere evaluates the list once, the rows that are new, and those whose values changed")
  func savesElsewhere() async throws {
    try await elsewhere { context in
      EmotionDiary(in: context, emotion: .sad, content: "눈").createdAt = Date(timeIntervalSince1970: 0)
    }
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 1])
    #expect(stage.takeAnimations() == [.easeInOut])
    #expect(stage.lines.contains("[1 new]"))
    stage.tap("1 new")
    #expect(stage.evaluations() == ["EntryList": 1] && !stage.lines.contains("[1 new]"))
    try await elsewhere { try entry("눈", in: $0).content = "눈사람" }
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 1] && stage.lines.last == "[눈사람]")
    try await elsewhere { try $0.delete(try entry("눈사람", in: $0)) }
    #expect(stage.evaluations()["EntryList"] == 1 && stage.lines.last == "[비]")
    try await elsewhere { _ = Tag(in: $0, name: "sea") }
    #expect(stage.evaluations() == [:] && !stage.isDirty)
  }

  @Test("more entries are loaded a page at a time") func loadMore() async throws {
    try await elsewhere { context in
      for number in 0..<6 {
        EmotionDiary(in: context, emotion: .calm, content: "\(number)").createdAt = Date(timeIntervalSince1970: -86400)
      }
    }
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 1] && stage.lines.last == "[More]")
    stage.tap("More")
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 4] && stage.lines.last == "[More]")
    stage.tap("More")
    #expect(stage.evaluations() == ["EntryList": 1, "EntryRow": 1] && stage.lines.last != "[More]")
  }

  @Test("a form tells what is wrong, with one evaluation for each edit, and the list has the entry once it is saved")
  func form() throws {
    stage.tap("New")
    #expect(stage.evaluations() == ["DiaryScreen": 1, "EntryForm": 1])
    let problem = "Content must have at least 1 character"
    #expect(stage.lines.contains { $0.hasPrefix("Content must") }, "\(stage.lines), \(problem)")
    stage.type("새 글", into: "Content")
    #expect(stage.evaluations() == ["EntryForm": 1] && !stage.lines.contains { $0.hasPrefix("Content must") })
    #expect(!stage.lines.contains("[새 글]"))
    stage.type("", into: "Content")
    stage.tap("Save")
    #expect(stage.evaluations() == ["EntryForm": 1] && stage.lines.contains { $0.hasPrefix("Content must") })
    stage.type("새 글", into: "Content")
    stage.tap("Save")
    let counts = stage.evaluations()
    #expect(counts["EntryList"] == 1 && counts["DiaryScreen"] == 1)
    #expect(stage.lines.contains("[새 글]") && !stage.lines.contains("[Save]"))
    #expect(try container.newContext().count(EmotionDiary.all) == 4)
  }

  @Test("a form that is cancelled changes nothing") func cancel() throws {
    stage.tap("비")
    #expect(stage.evaluations() == ["DiaryScreen": 1, "EntryDetail": 1, "EntryForm": 1])
    #expect(stage.lines.contains("Detail: 비") && stage.lines.contains("Content: 비"))
    stage.type("눈", into: "Content")
    #expect(stage.evaluations() == ["EntryForm": 1])
    stage.tap("Cancel")
    #expect(stage.evaluations()["EntryList"] == nil && stage.lines.last == "[비]")
    #expect(!container.mainContext.hasChanges)
  }

  @Test(
    "the detail of an entry follows its edits, and says when it is gone, here or elsewhere", arguments: [false, true])
  func detail(isElsewhere: Bool) async throws {
    stage.tap("비")
    _ = stage.evaluations()
    stage.type("눈", into: "Content")
    stage.tap("Save")
    #expect(stage.evaluations()["EntryRow"] == 1 && stage.lines.contains("[눈]"))
    stage.tap("눈")
    _ = stage.evaluations()
    if isElsewhere {
      try await elsewhere { try $0.delete(try entry("눈", in: $0)) }
      #expect(stage.evaluations()["EntryList"] == 1)
    } else {
      try container.mainContext.delete(try entry("눈", in: container.mainContext))
      #expect(stage.evaluations() == ["EntryDetail": 1, "EntryRow": 1], "an unsaved delete is none of the list")
    }
    #expect(stage.lines.contains("This entry is gone.") && !stage.lines.contains("[눈]"))
  }

  @Test("views without a container show nothing, and say why") func noContainer() {
    let stage = Stage(DiaryScreen())
    #expect(stage.lines.contains { $0.contains("trellisContainer") })
    stage.tap("New")
    #expect(stage.evaluations()["EntryForm"] == 1 && stage.lines.contains("[This entry is gone.]"))
  }

  @Test("another container in the environment is another list") func otherContainer() throws {
    struct Switch: View {
      let containers: [PersistentContainer]
      @State private var place = 0
      var body: some View {
        Button("Switch") { place = 1 }
        DiaryScreen().trellisContainer(containers[place])
      }
    }
    let empty = try PersistentContainer(previewing: .diary) { _ in }
    let stage = Stage(Switch(containers: [container, empty]))
    #expect(stage.lines.contains("[비]"))
    _ = stage.evaluations()
    stage.tap("Switch")
    #expect(stage.evaluations()["EntryList"] == 1 && !stage.lines.contains("[비]"))
  }

  @Test("a preview has its entries") func preview() async throws {
    let context = try await SampleEntries.makeSharedContext()
    let content = PreviewModifierContent(DiaryScreen())
    #expect(Stage(SampleEntries().body(content: content, context: context)).lines.contains("[바다]"))
  }
}

@MainActor @Suite("The screens of an app whose file another program writes", .timeLimit(.minutes(60)))
struct OtherProgramTests {
  /// A program that writes a file, line by line.
  private final class Writer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ file: URL) throws {
      let places = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
      let programs = places.map { $0.appending(path: "diary-writer") }
      let program: URL = try #require(programs.first { FileManager.default.isExecutableFile(atPath: $0.path) })
      process.executableURL = program
      process.arguments = [file.path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
    }

    /// Returns once the save is done.
    func write(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
      try #require(!output.fileHandleForReading.availableData.isEmpty)
    }

    deinit {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  @Test("each of its saves evaluates the list once, and no row more than once") func live() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "screens-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "diary.db")
    let container = try PersistentContainer(model: .diary, store: .sqlite(at: file))
    let context = container.newContext()
    try SampleEntries.seed(context)
    try context.save()
    let stage = Stage(DiaryScreen().trellisContainer(container))
    _ = stage.evaluations()
    let writer = try Writer(file)
    for (line, shown, isThere) in [
      ("add 눈", "[눈]", true), ("change 눈", "[눈!]", true), ("change 비", "[비!]", true), ("delete 눈!", "[눈!]", false),
    ] {
      try writer.write(line)
      while !stage.isDirty { try await Task.sleep(for: .milliseconds(5)) }
      let counts = stage.evaluations()
      #expect(counts["EntryList"] == 1 && counts["DiaryScreen"] == nil, "\(line): \(counts)")
      #expect(counts["EntryRow", default: 0] <= 4, "\(line): \(counts)")
      #expect(stage.lines.contains(shown) == isThere, "\(line): \(stage.lines)")
      // It is heard of once, and not again when the store is next looked at.
      try await Task.sleep(for: .milliseconds(400))
      #expect(stage.evaluations() == [:], "\(line), later")
    }
  }
}
