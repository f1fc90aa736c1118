import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@testable import TrellisPictureLoop

@Suite("Everything that works with data works with data in files") struct UseTests {
  enum Place: CaseIterable { case memory, sqlite, json }

  private let home: TestFolder

  init() throws { home = try TestFolder() }

  private func open(_ place: Place) throws -> PersistentContainer {
    let store: StoreConfiguration =
      switch place {
      case .memory: .memory
      case .sqlite: .sqlite(at: home.file("album.sqlite"), filesAbove: AlbumStore.limit)
      case .json: .json(at: home.file("album.json"), filesAbove: AlbumStore.limit)
      }
    return try PersistentContainer(model: .album, store: store, log: nil)
  }

  /// Pictures with small data, large data, and none.
  private func fill(_ context: ManagedObjectContext) throws {
    for (name, data) in [
      ("large", AlbumStore.bytes(2_000)), ("small", AlbumStore.bytes(20)), ("none", nil),
      ("other", AlbumStore.bytes(2_000, 1)),
    ] {
      _ = Picture(in: context, name: name, content: data)
    }
  }

  private func names(_ context: ManagedObjectContext, _ request: FetchRequest<Picture.Columns>) throws -> [String] {
    try context.fetch(request).map(\.name).sorted()
  }

  @Test("predicates compare bytes, wherever they lie, saved or not", arguments: Place.allCases, [false, true])
  func predicates(_ place: Place, _ isSaved: Bool) throws {
    let container = try open(place)
    defer { container.close() }
    let filling = container.newContext()
    try fill(filling)
    if isSaved { try filling.save() }
    let context = isSaved ? container.newContext() : filling
    let (large, small) = (AlbumStore.bytes(2_000), AlbumStore.bytes(20))
    #expect(try names(context, Picture.where { $0.content == large }) == ["large"])
    #expect(try names(context, Picture.where { $0.content == small }) == ["small"])
    #expect(try names(context, Picture.where { $0.content != large }) == ["none", "other", "small"])
    #expect(try names(context, Picture.where { $0.content == nil }) == ["none"])
    #expect(try names(context, Picture.where { $0.content != nil }) == ["large", "other", "small"])
    #expect(try names(context, Picture.where { $0.content.isIn([large, small]) }) == ["large", "small"])
    #expect(try names(context, Picture.where { !$0.content.isIn([large, small]) }) == ["none", "other"])
    #expect(try names(context, Picture.where("content == \(large) OR content IN \([small])")) == ["large", "small"])
    #expect(try names(context, Picture.where("length:(content) > 20")) == ["large", "other"])
    let handle = try #require(try context.first(Picture.where { $0.name == "large" })?.snapshot.content)
    #expect(try names(context, Picture.where { $0.content == handle }) == ["large"])
  }

  @Test("values are handles that load", arguments: Place.allCases)
  func values(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    let values = try context.values(of: Picture.all.sorted { $0.name.ascending }) { $0.content }
    #expect(values.map { $0?.count } == [2_000, nil, 2_000, 20])
    #expect(try values[0]?.load() == AlbumStore.bytes(2_000))
    #expect(values[0]?.isInFile == (place != .memory))
  }

  @Test("a change of many rows writes one file", arguments: Place.allCases)
  func updateAll(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    try context.updateAll(Picture.all) { $0.content.set(ExternalData(AlbumStore.bytes(7_000))) }
    let found = try container.newContext().fetch(Picture.all)
    #expect(found.allSatisfy { $0.content == AlbumStore.bytes(7_000) })
    if place != .memory { #expect(found.allSatisfy { $0.snapshot.content?.isInFile == true }) }
  }

  @Test("a child context reads and hands up data", arguments: Place.allCases)
  func children(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    let child = context.newChildContext()
    let picture = try #require(try child.first(Picture.where { $0.name == "large" }))
    #expect(picture.content == AlbumStore.bytes(2_000))
    picture.content = AlbumStore.bytes(9_000)
    _ = Picture(in: child, name: "new", content: AlbumStore.bytes(4_000))
    try child.save()
    try context.save()
    let found = try container.newContext().fetch(
      Picture.where("name IN \(["large", "new"])").sorted { $0.name.ascending })
    #expect(found.map(\.content) == [AlbumStore.bytes(9_000), AlbumStore.bytes(4_000)])
  }

  @Test("objects that swap their unique keys keep their data", arguments: Place.allCases)
  func swapping(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    let pictures = try context.fetch(Picture.where("name IN \(["large", "other"])").sorted { $0.name.ascending })
    (pictures[0].name, pictures[1].name) = (pictures[1].name, pictures[0].name)
    pictures[0].content = AlbumStore.bytes(8_000)
    try context.save()
    let found = try container.newContext().fetch(
      Picture.where("name IN \(["large", "other"])").sorted { $0.name.ascending })
    #expect(found.map(\.content) == [AlbumStore.bytes(2_000, 1), AlbumStore.bytes(8_000)])
    if place != .memory { #expect(found.allSatisfy { $0.snapshot.content?.isInFile == true }) }
    #expect(try container.check().isEmpty)
  }

  @Test("two contexts that change one value conflict, and other values merge", arguments: Place.allCases)
  func conflicts(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let first = container.newContext()
    try fill(first)
    try first.save()
    let second = container.newContext()
    let request = Picture.where { $0.name == "large" }
    let mine = try #require(try first.first(request)), theirs = try #require(try second.first(request))
    theirs.content = AlbumStore.bytes(3_000)
    mine.content = AlbumStore.bytes(4_000)
    try second.save()
    #expect(throws: (any Error).self) { try first.save() }
    first.rollback()
    _ = try first.fetch(request)
    #expect(mine.content == AlbumStore.bytes(3_000))
    theirs.preview = AlbumStore.bytes(5_000)
    mine.mark = Data([1])
    try second.save()
    first.mergePolicy = .objectTrump
    try first.save()
    #expect(mine.preview == AlbumStore.bytes(5_000))
  }

  @Test("a rule on the length holds for data in files", arguments: Place.allCases)
  func rules(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    let picture = Picture(in: context, name: "a", content: AlbumStore.bytes(1_000_000))
    try context.save()
    #expect(try container.check().isEmpty)
    picture.content = Data(count: 1_000_001)
    #expect(throws: (any Error).self) { try context.save() }
  }

  @Test("a snapshot in JSON has small data as text, and of a file what it is known by")
  func coding() throws {
    let container = try open(.sqlite)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    for picture in try context.fetch(Picture.all) {
      let snapshot = picture.snapshot
      let text = try JSONEncoder().encode(snapshot)
      #expect(text.count < 500)
      let decoded = try JSONDecoder().decode(Picture.Snapshot.self, from: text)
      #expect(decoded == snapshot)
      guard let handle = decoded.content, handle.isInFile else { continue }
      #expect(throws: StoreError.self) { try handle.load() }
    }
  }

  @Test("a copy of a store has the files too", arguments: [Place.sqlite, .json])
  func backup(_ place: Place) throws {
    let container = try open(place)
    defer { container.close() }
    let context = container.newContext()
    try fill(context)
    try context.save()
    let target = home.file("copy.\(place)")
    try container.backUp(to: target)
    try context.deleteAll(Picture.all)
    context.reset()
    try container.collectExternalFiles()
    let copied: StoreConfiguration = place == .json ? .json(at: target) : .sqlite(at: target)
    let copy = try PersistentContainer(model: .album, store: copied, log: nil)
    defer { copy.close() }
    #expect(try copy.check().isEmpty)
    let found = try copy.newContext().fetch(Picture.all.sorted { $0.name.ascending })
    #expect(found.map { $0.content?.count } == [2_000, nil, 2_000, 20])
    #expect(found.first?.content == AlbumStore.bytes(2_000))
    #expect(try container.newContext().count(Picture.all) == 0)
  }
}
