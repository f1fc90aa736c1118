#if !os(Windows)
  import Foundation
  import Testing
  import Trellis
  import TrellisJSON
  import TrellisTestSupport

  @Suite("What lies at a store's path is told by what it is", .timeLimit(.minutes(60))) struct PlaceTests {
    /// What may lie at a path, and how a message calls it.
    enum Thing: String, CaseIterable {
      case folder, pipe = "named pipe", endpoint = "socket", device

      func lay(at path: String) throws {
        switch self {
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .pipe: try #require(mkfifo(path, 0o600) == 0)
        case .endpoint: try #require(Self.listen(at: path))
        case .device: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        }
      }

      /// The file of a socket stays when the socket is closed.
      private static func listen(at path: String) -> Bool {
        #if canImport(Darwin)
          let number = socket(AF_UNIX, SOCK_STREAM, 0)
        #else
          let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard number >= 0 else { return false }
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let isShort = withUnsafeMutableBytes(of: &address.sun_path) { target in
          guard path.utf8.count < target.count else { return false }
          target.copyBytes(from: path.utf8)
          return true
        }
        guard isShort else { return false }
        return withUnsafePointer(to: &address) { address in
          address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
          }
        }
      }
    }

    private func configuration(_ kind: ClubStore.Kind, _ file: URL, readOnly: Bool) -> StoreConfiguration {
      kind == .json ? .json(at: file, readOnly: readOnly) : .sqlite(at: file, readOnly: readOnly)
    }

    @Test(
      "a folder, a pipe, a socket and a device are refused at once, and nothing comes beside them",
      arguments: ClubStore.Kind.allCases, Thing.allCases)
    func irregular(kind: ClubStore.Kind, thing: Thing) throws {
      let folder = try TestFolder()
      let file = folder.file("club.store")
      try thing.lay(at: file.path)
      for readOnly in [true, false] {
        let error = #expect(throws: StoreError.self) {
          try PersistentContainer(
            model: .club, store: configuration(kind, file, readOnly: readOnly), log: nil
          ).close()
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("it is a \(thing.rawValue)") == true, "\(error?.message ?? "")")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["club.store"])
    }

    @Test("a store of one kind that is opened as the other is refused, and the message names the right one")
    func otherKind() throws {
      for (kind, other, way) in [(ClubStore.Kind.sqlite, ClubStore.Kind.json, ".sqlite("), (.json, .sqlite, ".json(")] {
        let store = try ClubStore(kind)
        try store.fill()
        let before = try Data(contentsOf: store.file)
        let error = #expect(throws: StoreError.self) { try ClubStore.open(other, at: store.file).close() }
        #expect(error?.code == .foreignFile)
        #expect(error?.remedy.contains(way) == true, "\(error?.remedy ?? "")")
        #expect(try Data(contentsOf: store.file) == before)
      }
    }

    @Test(
      "a document without the right to write opens, is not replaced by a save, and can be saved when it has the right")
    func unwritableDocument() throws {
      let store = try ClubStore(.json)
      try store.fill()
      let files = FileManager.default
      try files.setAttributes([.posixPermissions: 0o400], ofItemAtPath: store.file.path)
      let before = try Data(contentsOf: store.file)
      let container = try store.open()
      defer { container.close() }
      let context = container.newContext()
      #expect(try context.count(Person.all) == 6)
      _ = Person(in: context, name: "New")
      let error = #expect(throws: StoreError.self) { try context.save() }
      #expect(error?.code == .readOnly)
      #expect(try Data(contentsOf: store.file) == before)
      #expect(try files.contentsOfDirectory(atPath: store.folder.path).sorted() == [".club.store.lock", "club.store"])
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.file.path)
      try context.save()
      #expect(try container.newContext().count(Person.all) == 7)
    }
  }
#endif
