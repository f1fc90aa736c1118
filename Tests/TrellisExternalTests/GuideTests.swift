import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPictureLoop

// The samples of Docs/ExternalStorage.md, block by block, each with what it is said to do.
@Suite("The guide to large data") struct GuideTests {
  private let photograph = AlbumStore.bytes(300_000)

  @Test("its samples do what it says") func samples() throws {
    let home = try TestFolder()
    let url = home.file("album.sqlite")
    var shown: Data?
    func show(_ data: Data?) { shown = data }

    let container = try PersistentContainer(model: .album, store: .sqlite(at: url, filesAbove: 200_000))
    defer { container.close() }
    let context = container.newContext()

    let picture = Picture(in: context, name: "summit.jpg", content: photograph)
    try context.save()
    // Saved: the object no longer holds the bytes.
    show(picture.content)
    #expect(shown == photograph)
    #expect(picture.snapshot.content?.isInFile == true)

    let handle = picture.snapshot.content
    let size = handle?.count ?? 0  // no file is read
    let bytes = try handle?.load()  // now it is
    #expect(size == 300_000)
    #expect(bytes == photograph)

    let same = try context.fetch(Picture.where { $0.content == photograph })
    let large = try context.count(Picture.where("length:(content) > 1000000"))
    let handles = try context.values(of: Picture.where { $0.content != nil }) { $0.content }
    #expect(same == [picture])
    #expect(large == 0)
    #expect(handles == [handle])

    picture.content = nil
    try context.save()
    let count = try container.collectExternalFiles()
    #expect(count == 0, "the handle above is in memory")
  }

  @Test("the page has no other samples") func page() throws {
    #expect(try GuideText("ExternalStorage.md").samples(missingFrom: #filePath) == [])
  }
}
