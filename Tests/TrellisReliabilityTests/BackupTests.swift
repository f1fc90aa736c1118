import Foundation
import Testing
import Trellis

@Suite("A copy of a store is whole, whoever writes meanwhile") struct BackupTests {
  private func rights(_ file: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// Everybody's names in a copy that has nothing wrong with it.
  private func people(_ kind: ClubStore.Kind, at file: URL) throws -> [String] {
    let container = try ClubStore.open(kind, at: file)
    defer { container.close() }
    #expect(try container.check() == [])
    return try container.newContext().fetch(Person.all).map(\.name).sorted()
  }

  @Test("a copy opens, holds what was saved, is right, and is its owner's alone", arguments: ClubStore.Kind.allCases)
  func copy(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    let container = try store.open()
    let copy = store.folder.appending(path: "copy.store")
    _ = Person(in: container.newContext(), name: "not saved")
    try container.backUp(to: copy)
    container.close()
    #expect(try names(store.folder) == ["club.store", "copy.store"])
    #expect(try rights(copy) == 0o600)
    #expect(try people(kind, at: copy) == ["Ann", "Ben", "Cho", "Dee", "Eva", "Fay"])
  }

  @Test("a file that is there stays, unless it is to be replaced", arguments: ClubStore.Kind.allCases)
  func existing(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    let container = try store.open()
    defer { container.close() }
    let copy = store.folder.appending(path: "copy.store")
    try Data("mine".utf8).write(to: copy)
    #expect(throws: StoreError.self) { try container.backUp(to: copy) }
    #expect(try Data(contentsOf: copy) == Data("mine".utf8))
    try container.backUp(to: copy, replacing: true)
    #expect(try people(kind, at: copy).count == 6)
  }

  @Test("the store's own file, and one that a store has open, are not replaced", arguments: ClubStore.Kind.allCases)
  func own(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    let other = try ClubStore(kind)
    for store in [store, other] { try store.fill() }
    let container = try store.open()
    let open = try other.open()
    #expect(throws: StoreError.self) { try container.backUp(to: store.file, replacing: true) }
    let error = #expect(throws: StoreError.self) { try container.backUp(to: other.file, replacing: true) }
    #expect(error?.code == .busy)
    for container in [container, open] {
      #expect(try container.newContext().count(Person.all) == 6)
      container.close()
    }
  }

  @Test("a missing folder is an error, and nothing is left", arguments: ClubStore.Kind.allCases)
  func missingFolder(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    let container = try store.open()
    #expect(throws: StoreError.self) { try container.backUp(to: store.folder.appending(path: "no/copy")) }
    container.close()
    #expect(throws: StoreError.self) { try container.backUp(to: store.folder.appending(path: "copy")) }
    #expect(try names(store.folder) == ["club.store"])
  }

  @Test("a store in memory says that it cannot be copied")
  func memory() throws {
    let container = try PersistentContainer(model: .club, store: .memory, log: nil)
    let file = FileManager.default.temporaryDirectory.appending(path: "Trellis-\(UUID().uuidString)")
    let error = #expect(throws: StoreError.self) { try container.backUp(to: file) }
    #expect(error?.code == .unsupported)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test("copies made while others save show one moment each", arguments: ClubStore.Kind.allCases)
  func busy(kind: ClubStore.Kind) async throws {
    let store = try ClubStore(kind)
    try store.fill()
    let container = try store.open()
    async let saves = container.perform { context in
      for age in 1...100 {
        for person in try context.fetch(Person.all) { person.age = Int16(age) }
        try context.save()
      }
      return 100
    }
    for number in 0..<10 {
      let copy = store.folder.appending(path: "copy \(number)")
      try container.backUp(to: copy)
      let found = try ClubStore.open(kind, at: copy)
      #expect(Set(try found.newContext().fetch(Person.all).map(\.age)).count == 1)
      #expect(try found.check() == [])
      found.close()
    }
    #expect(try await saves == 100)
    container.close()
  }
}
