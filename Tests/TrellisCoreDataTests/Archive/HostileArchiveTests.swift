import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisCoreData

/// Archives, plists, streams and stores with changed bytes: each is read or refused, and none traps.
@Suite("Hostile Core Data files") struct HostileArchiveTests {
  private func random(_ name: String) -> SeededGenerator {
    let seed =
      ProcessInfo.processInfo.environment["TRELLIS_COREDATA_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    print("\(name): seed \(seed), \(Mutations.count) mutations")
    return SeededGenerator(seed: seed)
  }

  private func cache(of name: String) throws -> [UInt8] {
    let scratch = try Scratch()
    let file = try StoreFile(try StoreValueTests.copied(name, to: scratch))
    var content: [UInt8] = []
    try file.rows("SELECT Z_CONTENT FROM Z_MODELCACHE") { content = $0.bytes(0) }
    return content
  }

  @Test("deflate streams") func streams() throws {
    var random = random("streams")
    let stream = try cache(of: "relationships")
    var good = 0
    for _ in 0..<Mutations.count {
      if (try? Inflate.bytes(of: Mutations.mutate(stream, &random))) != nil { good += 1 }
    }
    #expect(good < Mutations.count)
    #expect(throws: Never.self) { _ = try Inflate.bytes(of: stream) }
  }

  @Test("model archives") func archives() throws {
    var random = random("archives")
    for name in ["relationships", "inheritance"] {
      let archive = try Inflate.bytes(of: try cache(of: name))
      for _ in 0..<Mutations.count / 2 {
        guard let model = try? ModelArchiveReader.read(Mutations.mutate(archive, &random)) else { continue }
        _ = try? ModelTranslation(model, name: "M")
      }
    }
  }

  @Test("archives of values") func values() throws {
    var random = random("values")
    let scratch = try Scratch()
    let file = try StoreFile(try StoreValueTests.copied("transformables", to: scratch))
    var archives: [[UInt8]] = []
    for column in ["ZWORDS", "ZNUMBERS", "ZMIXED", "ZALIEN"] {
      try file.rows("SELECT \(column) FROM ZNOTE WHERE \(column) NOT NULL") { archives.append($0.bytes(0)) }
    }
    #expect(archives.count > 4)
    for number in 0..<Mutations.count {
      _ = try? ArchivedValue(archive: Mutations.mutate(archives[number % archives.count], &random))
    }
  }

  @Test("stores", .timeLimit(.minutes(60))) func stores() throws {
    var random = random("stores")
    let names = StoreValueTests.whole + ["broken", "unique"]
    var copied = 0
    // A store takes a thousand times as long as an archive.
    for number in 0..<max(1, Mutations.count / 20) {
      let scratch = try Scratch()
      let name = names[number % names.count]
      let url = try StoreValueTests.copied(name, to: scratch)
      try Data(Mutations.mutate([UInt8](try Data(contentsOf: url)), &random)).write(to: url)
      let given = name == "nocache" ? Fixtures.url("Stores/Entry.xcdatamodel") : nil
      guard let store = try? CoreDataStore(at: url, model: given),
        (try? store.copy(to: scratch.file("copy.sqlite"))) != nil
      else {
        #expect(!FileManager.default.fileExists(atPath: scratch.file("copy.sqlite").path))
        continue
      }
      copied += 1
    }
    #expect(copied > 0)
  }

  @Test("models in XML") func models() throws {
    var random = random("models")
    let contents = [UInt8](try Data(contentsOf: Fixtures.url("Stores/Entry.xcdatamodel/contents")))
    let scratch = try Scratch()
    for _ in 0..<max(1, Mutations.count / 4) {
      let folder = scratch.file("M.xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data(Mutations.mutate(contents, &random)).write(to: folder.appending(path: "contents"))
      _ = try? CoreDataModelImport(contentsOf: folder)
    }
  }
}
