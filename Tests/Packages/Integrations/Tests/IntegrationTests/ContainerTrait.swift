import Foundation
import Testing
import Trellis

/// Gives each test, and each case of a test with arguments, a container of its own, which it finds as
/// `PersistentContainer.current`.
///
/// ```swift
/// @Test(.container(.notes)) func empty() throws {
///   #expect(try PersistentContainer.current.newContext().count(Note.all) == 0)
/// }
/// @Suite(.container(.notes, .sqlite) { try Fixture("Notes.json").insert(into: $0) }) struct NoteTests { … }
/// ```
struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
  enum Place: Sendable { case memory, sqlite }

  let model: ObjectModel
  let place: Place
  let prepare: (@Sendable (ManagedObjectContext) throws -> Void)?

  /// A suite hands the trait to its tests.
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "test-\(UUID())")
    if place == .sqlite { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = place == .memory ? .memory : StoreConfiguration.sqlite(at: folder.appending(path: "test.sqlite"))
    let container = try PersistentContainer(model: model, store: store)
    // Before the folder is removed.
    defer { container.close() }
    if let prepare {
      let context = container.newContext()
      try prepare(context)
      try context.save()
    }
    try await TestContainer.$current.withValue(container) { try await function() }
  }
}

extension Trait where Self == ContainerTrait {
  /// A container of its own for each test.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - place: `memory`, or `sqlite` for a file in a temporary folder, which is removed at the end.
  ///   - prepare: Inserts objects, which are saved before the test begins.
  static func container(
    _ model: ObjectModel, _ place: ContainerTrait.Place = .memory,
    prepare: (@Sendable (ManagedObjectContext) throws -> Void)? = nil
  ) -> Self {
    ContainerTrait(model: model, place: place, prepare: prepare)
  }
}

enum TestContainer {
  @TaskLocal static var current: PersistentContainer?
}

extension PersistentContainer {
  struct NoContainer: Error {}

  /// The container of the running test.
  static var current: PersistentContainer {
    get throws {
      guard let current = TestContainer.current else { throw NoContainer() }
      return current
    }
  }
}
