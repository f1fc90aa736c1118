import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisStorage
import TrellisModel
import TrellisTestSupport

@testable import TrellisPictureLoop

/// Files with room for more than any memory, of which the disk holds nothing.
@Suite("A file of large data is never held in memory whole but to be loaded") struct LargeFileTests {
  /// A document with one picture whose file is said to have `size` bytes, and has them, all zeros.
  private func store(size: UInt64, files: some FileOperations) throws -> (AlbumStore, PersistentContainer) {
    let store = try AlbumStore(.json)
    let container = try store.open()
    _ = Picture(in: container.newContext(), name: "unsaved")
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(2_000))
    try context.save()
    container.close()
    let name = try #require(try store.files().first)
    let text = try String(contentsOf: store.file, encoding: .utf8)
    try text.replacingOccurrences(of: "\"size\": 2000", with: "\"size\": \(size)")
      .write(to: store.file, atomically: false, encoding: .utf8)
    let handle = try FileHandle(forWritingTo: store.folder.appending(path: name))
    try handle.truncate(atOffset: size)
    try handle.close()
    let path = store.file.path
    let configuration = StoreConfiguration { model in try JSONStore(path: path, model: model, files: files) }
    return (store, try PersistentContainer(model: .album, store: configuration, log: nil) { _ in })
  }

  @Test("a check reads it piece by piece") func check() throws {
    let files = MeasuredFiles(most: 3)
    let (store, container) = try store(size: 40 << 30, files: files)
    defer { withExtendedLifetime(store) { container.close() } }
    #expect(try container.check().contains { $0.code == .externalFile && $0.message.contains("enough was read") })
    #expect(files.largest == SystemFiles.pieceSize)
    #expect(files.count == 4)
  }

  @Test("a copy of the store reads and writes it piece by piece, and a failure leaves nothing") func copy() throws {
    let files = MeasuredFiles(most: 3)
    let (store, container) = try store(size: 100 << 30, files: files)
    defer { container.close() }
    let copy = store.home.file("copy.store")
    #expect(throws: StoreError.self) { try container.backUp(to: copy) }
    #expect(files.largest == SystemFiles.pieceSize)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    #expect(try store.files(store.home.file("copy.store.external")) == [])
  }

  @Test(
    "a copy names the object whose file has another size than its row says, reads none of it, and leaves nothing",
    arguments: AlbumStore.Kind.allCases, [UInt64(0), 1_999, 2_001, 100 << 30])
  func otherSize(kind: AlbumStore.Kind, size: UInt64) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    let pictures = (0..<4).map { Picture(in: context, name: "\($0)", content: AlbumStore.bytes(2_000, $0)) }
    try context.save()
    let digest = try #require(pictures[2].snapshot.content?.digest)
    let handle = try FileHandle(forWritingTo: store.folder.appending(path: digest.text))
    try handle.truncate(atOffset: size)
    try handle.close()
    let copy = store.home.file("copy.store")
    let error = #expect(throws: StoreError.self) { try container.backUp(to: copy) }
    #expect(error?.code == .damaged && error?.message.hasPrefix("Picture#") == true)
    #expect(error?.message.contains(".content: ") == true)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    #expect(!FileManager.default.fileExists(atPath: copy.path + ".external"))
    // Setting the value is the way out.
    pictures[2].content = AlbumStore.bytes(2_000, 9)
    try context.save()
    try container.backUp(to: copy)
    let copied = try store.open(copy)
    defer { copied.close() }
    #expect(try copied.check() == [])
  }

  @Test("the start of a large file is read without the rest") func start() throws {
    let files = MeasuredFiles(most: 16)
    let (store, container) = try store(size: 100 << 30, files: files)
    defer { withExtendedLifetime(store) { container.close() } }
    let picture = try #require(try container.newContext().first(Picture.all))
    #expect(try picture.snapshot.content?.start(16) == [UInt8](AlbumStore.bytes(16)))
    #expect(files.largest == 16)
  }

  @Test("loading one that is larger than a value may be is an error with the code limit") func load() throws {
    let (store, container) = try store(size: 100 << 30, files: SystemFiles())
    defer { withExtendedLifetime(store) { container.close() } }
    let picture = try #require(try container.newContext().first(Picture.all))
    let error = #expect(throws: StoreError.self) { try picture.snapshot.content?.load() }
    #expect(error?.code == .limit)
  }

  @Test("files copied piece by piece are the same, whatever their length") func lengths() throws {
    let store = try AlbumStore(.sqlite)
    let container = try store.open()
    defer { container.close() }
    let context = container.newContext()
    for (place, change) in [-1, 0, 1].enumerated() {
      _ = Picture(in: context, name: "\(place)", preview: AlbumStore.bytes(SystemFiles.pieceSize + change))
    }
    try context.save()
    let copy = store.home.file("copy.store")
    try container.backUp(to: copy)
    let copied = try store.open(copy)
    defer { copied.close() }
    #expect(try copied.check() == [])
    #expect(try store.files(store.home.file("copy.store.external")) == store.files())
  }

  @Test("a digest of pieces is the digest of the whole, wherever it is cut") func pieces() {
    let bytes = AlbumStore.bytes(300)
    let whole = ContentDigest(of: [UInt8](bytes))
    for first in 0...130 {
      for second in stride(from: first, through: 300, by: 17) {
        var hasher = ContentHasher(bySystem: false)
        for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
          piece.withUnsafeBytes { hasher.add($0) }
        }
        #expect(hasher.digest() == whole, "cut at \(first) and \(second)")
      }
    }
  }

  @Test("the lock of a folder that is a link to somewhere else is not made there", arguments: AlbumStore.Kind.allCases)
  func linkedFolder(kind: AlbumStore.Kind) throws {
    let store = try AlbumStore(kind)
    let container = try store.open()
    let context = container.newContext()
    _ = Picture(in: context, name: "a", content: AlbumStore.bytes(2_000))
    try context.save()
    container.close()
    let elsewhere = store.home.file("elsewhere")
    try FileManager.default.removeItem(at: store.folder)
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(at: store.folder, withDestinationURL: elsewhere)
    let again = try store.open()
    _ = try again.newContext().first(Picture.all)?.snapshot.content?.count
    again.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == [])
  }
}

/// The file system, with a count of the pieces that are read, and an end to them.
private final class MeasuredFiles: FileOperations {
  private let system = SystemFiles()
  private let most: Int
  private let sizes = Locked<[Int]>([])

  init(most: Int) { self.most = most }

  var largest: Int { sizes.withLock { $0.max() ?? 0 } }
  var count: Int { sizes.withLock { $0.count } }

  func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem) {
    try system.read(path, inPiecesOf: size, followingLinks: followingLinks) { piece throws(FileProblem) in
      sizes.withLock { $0.append(piece.count) }
      guard count <= most else { throw FileProblem(.other, "enough was read") }
      return try body(piece)
    }
  }

  func read<Content: FileContent>(_ path: String, limit: Int, followingLinks: Bool) throws(FileProblem) -> (
    bytes: Content, stamp: FileStamp
  ) {
    try system.read(path, limit: min(limit, 1 << 24), followingLinks: followingLinks)
  }

  func resolved(_ path: String) -> String { system.resolved(path) }
  func stamp(_ path: String) throws(FileProblem) -> FileStamp? { try system.stamp(path) }
  func mayWrite(to path: String) -> Bool { system.mayWrite(to: path) }

  func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile {
    try system.create(path, permissions: permissions)
  }

  func rename(_ path: String, to other: String) throws(FileProblem) { try system.rename(path, to: other) }
  func rename(_ path: String, toUnused other: String) throws(FileProblem) {
    try system.rename(path, toUnused: other)
  }

  func syncFolder(_ path: String) throws(FileProblem) { try system.syncFolder(path) }
  func remove(_ path: String) throws(FileProblem) { try system.remove(path) }
  func lock(_ path: String) throws(FileProblem) -> any OpenFile { try system.lock(path) }
  func share(_ path: String) throws(FileProblem) -> any OpenFile { try system.share(path) }
  func isFolder(_ path: String) throws(FileProblem) -> Bool { try system.isFolder(path) }
  func makeFolder(_ path: String) throws(FileProblem) { try system.makeFolder(path) }
  func names(in folder: String) throws(FileProblem) -> [String] { try system.names(in: folder) }
}
