import Foundation
import Testing
import Trellis

@testable import TrellisPictureLoop

@Suite("Large data lies in files, and comes back by the byte") struct RoundTripTests {
  @Test("data lies in its row up to the limit, and in a file above it", arguments: AlbumStore.Kind.allCases)
  func edge(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let sizes = [0, 1, AlbumStore.limit - 1, AlbumStore.limit, AlbumStore.limit + 1, 300_000]
    do {
      let container = try store.open()
      defer { container.close() }
      let context = container.newContext()
      for size in sizes { _ = Picture(in: context, name: "\(size)", content: AlbumStore.bytes(size, size)) }
      try context.save()
    }
    #expect(try store.files().count == 2)
    let container = try store.open()
    defer { container.close() }
    for picture in try container.newContext().fetch(Picture.all) {
      let size = try #require(Int(picture.name))
      let handle = try #require(picture.snapshot.content)
      #expect(handle.count == size)
      #expect(handle.isInFile == (size > AlbumStore.limit))
      #expect(picture.content == AlbumStore.bytes(size, size))
      #expect(try handle.load() == AlbumStore.bytes(size, size))
      // Reading it leaves nothing large in memory.
      #expect(picture.snapshot.content?.isInFile == (size > AlbumStore.limit))
    }
    #expect(try container.check().isEmpty)
  }

  @Test("after a save the bytes are no longer held in memory", arguments: AlbumStore.Kind.allCases)
  func settling(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    let picture = Picture(in: context, name: "a", content: AlbumStore.bytes(5_000))
    #expect(picture.snapshot.content?.isInFile == false)
    try context.save()
    #expect(picture.snapshot.content?.isInFile == true)
    #expect(picture.content == AlbumStore.bytes(5_000))
    #expect(!picture.hasChanges)
  }

  @Test("what is set anew, to nil or to the same, is what is saved", arguments: AlbumStore.Kind.allCases)
  func changing(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    let picture = Picture(in: context, name: "a", content: AlbumStore.bytes(5_000))
    try context.save()
    picture.content = AlbumStore.bytes(5_000)
    #expect(!context.hasChanges, "the same bytes are no change")
    picture.content = AlbumStore.bytes(5_000, 1)
    picture.preview = AlbumStore.bytes(5_000)
    try context.save()
    let other = try #require(try container.newContext().first(Picture.all))
    #expect(other.content == AlbumStore.bytes(5_000, 1))
    #expect(other.preview == AlbumStore.bytes(5_000))
    picture.content = nil
    try context.save()
    #expect(try container.newContext().first(Picture.all)?.content == nil)
    #expect(try store.files().count == 2, "nothing is collected by a save")
  }

  @Test("rollback, undo and two contexts see what they should", arguments: AlbumStore.Kind.allCases)
  func takingBack(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    let picture = Picture(in: context, name: "a", content: AlbumStore.bytes(5_000))
    try context.save()
    picture.content = AlbumStore.bytes(6_000)
    context.rollback()
    #expect(picture.content == AlbumStore.bytes(5_000))
    context.undo.enable()
    picture.content = AlbumStore.bytes(6_000)
    try context.save()
    let other = container.newContext()
    #expect(try other.first(Picture.all)?.content == AlbumStore.bytes(6_000))
    // What can be undone is not collected.
    #expect(try container.collectExternalFiles() == 0)
    try context.undo.undo()
    #expect(picture.content == AlbumStore.bytes(5_000))
    try context.save()
    #expect(try other.first(Picture.all)?.content == AlbumStore.bytes(5_000))
  }

  @Test("a larger limit or a smaller one changes nothing that is there", arguments: AlbumStore.Kind.allCases)
  func otherLimit(_ kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    for (place, limit) in [1_000, 1_000_000, -1].enumerated() {
      let container = try store.open(limit: limit)
      defer { container.close() }
      let context = container.newContext()
      _ = Picture(in: context, name: "\(place)", content: AlbumStore.bytes(5_000))
      try context.save()
      let handles = try context.fetch(Picture.all.sorted { $0.name.ascending }).map(\.snapshot.content)
      #expect(handles.map { $0?.isInFile } == [true, false, true].prefix(place + 1).map { $0 })
      #expect(Set(handles).count == 1, "equal by their bytes, wherever these are")
      for picture in try context.fetch(Picture.all) { #expect(picture.content == AlbumStore.bytes(5_000)) }
    }
  }

  @Test("a store in memory keeps all data in memory") func memory() throws {
    let container = try PersistentContainer(model: .album, store: .memory, log: nil)
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(300_000))
    try context.save()
    #expect(try container.newContext().first(Picture.all)?.content == AlbumStore.bytes(300_000))
    #expect(try container.collectExternalFiles() == 0)
  }
}
