import Foundation
import Testing
import Trellis

@testable import TrellisPictureLoop

@Suite("Files that nobody refers to are collected, and no others") struct CollectingTests {
  private func fill(_ store: AlbumStore, _ count: Int = 4) throws {
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    for number in 0..<count {
      _ = Picture(in: context, name: "\(number)", content: AlbumStore.bytes(2_000, number))
    }
    try context.save()
  }

  @Test("what was deleted or replaced is collected by a call", arguments: AlbumStore.Kind.allCases)
  func call(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    try fill(store)
    let container = try store.open()
    defer { container.close() }
    do {
      let context = container.newContext()
      let pictures = try context.fetch(Picture.all.sorted { $0.name.ascending })
      try context.delete(pictures[0])
      pictures[1].content = AlbumStore.bytes(3_000)
      // Two rows with one content have one file.
      pictures[2].content = AlbumStore.bytes(2_000, 3)
      try context.save()
    }
    #expect(try store.files().count == 5)
    #expect(try container.collectExternalFiles() == 3)
    #expect(try container.collectExternalFiles() == 0)
    #expect(try container.check().isEmpty)
    let contents = try container.newContext().fetch(Picture.all.sorted { $0.name.ascending }).map(\.content)
    #expect(contents == [AlbumStore.bytes(3_000), AlbumStore.bytes(2_000, 3), AlbumStore.bytes(2_000, 3)])
  }

  @Test("opening a store collects what is left", arguments: AlbumStore.Kind.allCases)
  func opening(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    try fill(store)
    do {
      let container = try store.open()
      defer { container.close() }
      let context = container.newContext()
      for picture in try context.fetch(Picture.all) { try context.delete(picture) }
      try context.save()
    }
    #expect(try store.files().count == 4)
    // What a crash leaves of writing, and of a save that was never committed.
    let name = String(repeating: "0a", count: 32)
    try Data([1]).write(to: store.folder.appending(path: name))
    try Data([1]).write(to: store.folder.appending(path: "\(name)-7.new"))
    try Data([1]).write(to: store.folder.appending(path: "notes.txt"))
    try store.open().close()
    #expect(try store.files() == ["notes.txt"], "what is not the store's own stays")
    #expect(!FileManager.default.fileExists(atPath: store.folder.appending(path: "uncollected").path))
  }

  @Test(
    "what a crash has left of writing goes, also when the same bytes are in use", arguments: AlbumStore.Kind.allCases)
  func leftovers(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    try fill(store, 1)
    let name = try #require(try store.files().first)
    try Data([1]).write(to: store.folder.appending(path: "\(name)-3.new"))
    let container = try store.open()
    defer { container.close() }
    let handle = try container.newContext().first(Picture.all)?.snapshot.content
    _ = try container.collectExternalFiles()
    #expect(try store.files() == [name])
    #expect(try handle?.load().count == 2_000)
  }

  @Test("a snapshot keeps its file while it is in memory", arguments: AlbumStore.Kind.allCases)
  func handles(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    try fill(store, 1)
    let container = try store.open()
    defer { container.close() }
    var snapshot: Picture.Snapshot?
    do {
      let context = container.newContext()
      let picture = try #require(try context.first(Picture.all))
      snapshot = picture.snapshot
      try context.delete(picture)
      try context.save()
    }
    #expect(try container.collectExternalFiles() == 0)
    #expect(try snapshot?.content?.load() == AlbumStore.bytes(2_000))
    snapshot = nil
    #expect(try container.collectExternalFiles() == 1)
  }

  @Test("while another container has the store open, nothing is collected") func others() throws {
    let store = try AlbumStore(.sqlite)
    try fill(store)
    let first = try store.open()
    defer { first.close() }
    let second = try store.open()
    let picture = try #require(try second.newContext().first(Picture.all))
    let handle = try #require(picture.snapshot.content)
    let context = first.newContext()
    for picture in try context.fetch(Picture.all) { try context.delete(picture) }
    try context.save()
    context.reset()
    let error = #expect(throws: StoreError.self) { try first.collectExternalFiles() }
    #expect(error?.code == .busy)
    #expect(try handle.load().count == 2_000)
    // Saving goes on after that.
    _ = Picture(in: context, name: "new", content: AlbumStore.bytes(2_000, 9))
    try context.save()
    second.close()
    #expect(try first.collectExternalFiles() == 4)
    #expect(try first.check().isEmpty)
  }

  @Test("a store that is only read is left as it is", arguments: AlbumStore.Kind.allCases)
  func readOnly(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    try fill(store)
    let name = String(repeating: "0a", count: 32)
    try Data([1]).write(to: store.folder.appending(path: name))
    let container = try store.open(readOnly: true)
    defer { container.close() }
    #expect(try container.newContext().fetch(Picture.all).compactMap(\.content?.count) == [2_000, 2_000, 2_000, 2_000])
    #expect(try container.collectExternalFiles() == 0)
    #expect(try store.files().count == 5)
  }

  @Test("a store without large data has no folder", arguments: AlbumStore.Kind.allCases)
  func noFolder(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(10))
    try context.save()
    #expect(try container.collectExternalFiles() == 0)
    #expect(!FileManager.default.fileExists(atPath: store.folder.path))
  }
}
