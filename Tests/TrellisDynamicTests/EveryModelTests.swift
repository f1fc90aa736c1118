import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTestSupport
import TrellisTesting

/// Every model of the repository, without its classes.
@Suite("Stores of every model open without generated classes") struct EveryModelTests {
  /// The models that are valid by themselves, wherever they are.
  static let models: [URL] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var found: [URL] = []
    for folder in ["Models", "Tests"] {
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      for case let url as URL in files ?? FileManager.DirectoryEnumerator() {
        if url.lastPathComponent == ".build" { files?.skipDescendants() }
        let path = url.path
        guard path.hasSuffix(".model.json"), !path.contains("/Cases/"), !path.contains("/Guide/") else { continue }
        found.append(url)
      }
    }
    return found.sorted { $0.path < $1.path }
  }()

  static func description(_ url: URL) throws -> ModelDescription {
    let result = ModelFile.parse([UInt8](try Data(contentsOf: url)), path: url.path)
    return try #require(result.description, "\(result.rendered())")
  }

  @Test("there are some models") func some() { #expect(Self.models.count > 20) }

  @Test("random objects are saved, read, changed and deleted, and the store is whole", arguments: models)
  func seeded(_ url: URL) throws {
    let description = try Self.description(url)
    for kind in TestSettings.isLong
      ? [StoreKind.memory, .sqlite] : [url.path.utf8.count.isMultiple(of: 2) ? .memory : .sqlite]
    {
      let place = try TestContainer(ObjectModel(dynamic: description), kind)
      let context = place.container.newContext()
      let report = try context.seed(8, seed: TestSettings.seed())
      #expect(report.discarded.isEmpty, "\(report.discarded)")
      try expectWhole(place)
      let reader = place.container.newContext()
      for (entity, count) in report.counts {
        let number = try #require(reader.model.entity(named: entity)).index
        let request = try reader.request(for: number, includesSubentities: false)
        #expect(try reader.count(of: request) == count)
        #expect(count >= 8 || !report.notes.isEmpty, "\(entity)")
      }
      try change(reader)
      try expectWhole(place)
    }
  }

  private func expectWhole(_ place: TestContainer) throws {
    #expect(try place.container.check().map(\.description) == [])
    #expect(place.errors.all.isEmpty, "\(place.errors.messages)")
  }

  /// Sets every attribute to the value of another object, and deletes every third object.
  private func change(_ context: ManagedObjectContext) throws {
    for entity in context.model.entities where entity.parent == nil {
      let objects = try context.objects(entity.name)
      for (number, object) in objects.enumerated() {
        #expect("\(object)" == "\(try object.ownEntity().name)#\(object.key)")
        for case let attribute? in entity.properties.map(\.attribute) where attribute.description.derivation == nil {
          try object.set(attribute.name, try objects[objects.count - 1 - number].value(attribute.name))
        }
      }
      for object in objects where object.key % 3 == 0 && !object.isDeleted { try context.delete(object) }
    }
    try context.saveValidChanges()
  }

  @Test("models made by chance, too")
  func random() throws {
    var models = RandomModel(seed: TestSettings.seed())
    for number in 0..<TestSettings.number("TRELLIS_DYNAMIC_MODELS", or: 15) {
      let description = models.make(number)
      let place = try TestContainer(ObjectModel(dynamic: description), number.isMultiple(of: 2) ? .memory : .sqlite)
      let report = try place.container.newContext().seed(6, seed: UInt64(number))
      #expect(report.discarded.isEmpty && report.notes.isEmpty, "\(report)")
      try expectWhole(place)
    }
  }

  @Test("a thousand entities have a class each")
  func thousand() throws {
    let entities = (0..<1_000).map { number in
      EntityDescription(
        "E\(number)", attributes: [AttributeDescription("number", .int64)],
        relationships: [
          RelationshipDescription("next", to: "E\((number + 1) % 1_000)", inverse: "former", optional: true),
          RelationshipDescription("former", to: "E\((number + 999) % 1_000)", inverse: "next", optional: true),
        ])
    }
    let place = try TestContainer(ObjectModel(dynamic: ModelDescription(name: "Wide", entities: entities)))
    let context = place.container.newContext()
    let objects = try (0..<1_000).map { try context.insert("E\($0)", ["number": .integer(Int64($0))]) }
    for (number, object) in objects.enumerated() { try object.set("next", objects[(number + 1) % 1_000]) }
    try context.save()
    #expect(Set(objects.map { ObjectIdentifier(type(of: $0)) }).count == 1_000)
    let reader = place.container.newContext()
    for number in 0..<1_000 {
      let object = try #require(try reader.objects("E\(number)").first)
      #expect(object["number"] == .integer(Int64(number)))
      #expect(try object.partner("next")?.description == "E\((number + 1) % 1_000)#\((number + 1) % 1_000 + 1)")
    }
    try expectWhole(place)
  }
}
