import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@_spi(Generated) @testable import TrellisRuntime

@Suite("Objects by their unique keys, as a context sees them") struct KeyHolderTests {
  struct Case: CustomTestStringConvertible {
    let kind: StoreKind
    /// The number of contexts between the one that asks and the store.
    let depth: Int

    var testDescription: String { "\(kind), \(depth) parents" }
  }

  static let cases = StoreKind.inPlace.flatMap { kind in (0...2).map { Case(kind: kind, depth: $0) } }

  /// A context and those above it.
  struct Line {
    let store: TestContainer
    let contexts: [ManagedObjectContext]

    init(_ test: Case) throws {
      store = try TestContainer(.keys, test.kind)
      var line = [store.container.newContext()]
      for _ in 0..<test.depth { line.append(line[line.count - 1].newChildContext()) }
      contexts = line
    }

    var top: ManagedObjectContext { contexts[0] }
    var last: ManagedObjectContext { contexts[contexts.count - 1] }
  }

  private func key(_ entity: String, _ names: String...) throws -> UniqueKey {
    let model = try TestContainer(.keys).container.newContext().model
    let found = try #require(model.entities.first { $0.name == entity })
    return try #require(
      found.uniqueKeys.first { key in
        key.properties.map { model.entities[key.entity].properties[$0].name } == names
      })
  }

  private func keys(_ objects: [ManagedObject?]) -> [Int64?] { objects.map { $0?._key } }

  @Test("stored, edited, new and deleted objects", arguments: cases) func one(_ test: Case) throws {
    let line = try Line(test)
    let code = try key("Ware", "code")
    let ids = ["a", "b", "c", "d"].map { Ware(in: line.top, code: $0).objectID }
    let tool = Gadget(in: line.top, code: "tool")
    try line.top.save()
    let context = line.last
    let objects = try ids.map { try #require(try context.object(with: $0)) }
    objects[1].code = "x"
    objects[2].note = "edited"
    try context.delete(objects[3])
    let new = Cup(in: context, code: "new")
    _ = Ware(in: context)
    let values: [StoredValue] = [
      .text("x"), .text("a"), .null, .text("b"), .text("c"), .text("d"), .text("new"), .text("a"), .text("A"),
      .text("tool"),
    ]
    let found = try context.holders(of: code, values: [values])
    #expect(
      keys(found) == [
        ids[1].key, ids[0].key, nil, nil, ids[2].key, nil, new.objectID.key, ids[0].key, nil, tool.objectID.key,
      ])
    #expect(found[0] === objects[1] && found[6] === new && found[9] is Gadget)
    #expect(try context.holders(of: code, values: [[]]).isEmpty)
    #expect(line.store.errors.all.isEmpty)
  }

  @Test("what a parent has not saved", arguments: cases.filter { $0.depth > 0 }) func parents(_ test: Case) throws {
    let line = try Line(test)
    let code = try key("Ware", "code")
    let saved = Ware(in: line.top, code: "a")
    try line.top.save()
    let new = Ware(in: line.top, code: "a")
    saved.code = "b"
    let found = try line.last.holders(of: code, values: [[.text("a"), .text("b")]])
    #expect(keys(found) == [new.objectID.key, saved.objectID.key])
    new.code = "c"
    let again = try line.last.holders(of: code, values: [[.text("a"), .text("b"), .text("c")]])
    #expect(keys(again) == [nil, saved.objectID.key, new.objectID.key])
    try line.top.delete(saved)
    #expect(try line.last.holders(of: code, values: [[.text("b")]])[0] == nil)
  }

  @Test("several objects with the same values until a save", arguments: cases) func several(_ test: Case) throws {
    let line = try Line(test)
    let code = try key("Ware", "code")
    let (stored, other) = (Ware(in: line.top, code: "a"), Ware(in: line.top, code: "b"))
    try line.top.save()
    let new = Ware(in: line.last, code: "a")
    let second = Ware(in: line.last, code: "n")
    _ = Ware(in: line.last, code: "n")
    let found = try line.last.holders(of: code, values: [[.text("a"), .text("n")]])
    #expect(keys(found) == [stored.objectID.key, second.objectID.key])
    try #require(try line.last.object(with: other.objectID)).code = "n"
    try #require(try line.last.object(with: stored.objectID)).code = nil
    let again = try line.last.holders(of: code, values: [[.text("a"), .text("n")]])
    #expect(keys(again) == [new.objectID.key, other.objectID.key])
  }

  @Test("a key with a reference in it", arguments: cases) func reference(_ test: Case) throws {
    let line = try Line(test)
    let place = try key("Leaf", "folder", "number")
    let folders = [Atlas(in: line.top, name: "0"), Atlas(in: line.top, name: "1")]
    let pages = (0..<6).map { Leaf(in: line.top, number: Int16($0 / 2), folder: folders[$0 % 2]) }
    try line.top.save()
    let context = line.last
    let new = Atlas(in: context, name: "2")
    let page = Leaf(in: context, number: 0, folder: new)
    let (first, second) = (folders[0].objectID, folders[1].objectID)
    func found(_ pairs: [(Int64, Int64?)]) throws -> [Int64?] {
      keys(
        try context.holders(
          of: place, values: [pairs.map { .integer($0.0) }, pairs.map { $0.1.map(StoredValue.integer) ?? .null }]))
    }
    let numbers = pages.map(\.objectID.key)
    let asked: [(Int64, Int64?)] = [
      (first.key, 0), (second.key, 2), (first.key, nil), (new.objectID.key, 0), (first.key, 9), (second.key, 0),
    ]
    #expect(try found(asked) == [numbers[0], numbers[5], nil, page.objectID.key, nil, numbers[1]])
    try #require(try context.object(with: pages[0].objectID)).folder = new
    try #require(try context.object(with: pages[1].objectID)).number = nil
    #expect(try found(asked) == [nil, numbers[5], nil, numbers[0], nil, nil])
    // The pages of a deleted folder go with it.
    try context.delete(#require(try context.object(with: second)))
    #expect(try found(asked) == [nil, nil, nil, numbers[0], nil, nil])
  }

  @Test("a reference to a deleted object is null", arguments: cases) func deletedPartner(_ test: Case) throws {
    let line = try Line(test)
    let cover = try key("Leaf", "cover")
    let folder = Atlas(in: line.top)
    let page = Leaf(in: line.top, cover: folder)
    try line.top.save()
    let value = StoredValue.integer(folder.objectID.key)
    #expect(keys(try line.last.holders(of: cover, values: [[value]])) == [page.objectID.key])
    try line.last.delete(#require(try line.last.object(with: folder.objectID)))
    #expect(keys(try line.last.holders(of: cover, values: [[value]])) == [nil])
  }

  @Test("the key of an entity below another one", arguments: cases) func hierarchy(_ test: Case) throws {
    let line = try Line(test)
    let make = try key("Gadget", "weight", "maker")
    let tool = Gadget(in: line.top, weight: 1, maker: "m")
    _ = Cup(in: line.top, maker: "m")
    try line.top.save()
    let new = Gadget(in: line.last, weight: 2, maker: "m")
    let found = try line.last.holders(
      of: make, values: [[.integer(1), .integer(2), .integer(3)], [.text("m"), .text("m"), .text("m")]])
    #expect(keys(found) == [tool.objectID.key, new.objectID.key, nil])
  }

  @Test("what another context has saved is there", arguments: StoreKind.inPlace) func others(_ kind: StoreKind) throws {
    let store = try TestContainer(.keys, kind)
    let (context, other) = (store.container.newContext(), store.container.newContext())
    let code = try key("Ware", "code")
    let item = Ware(in: context, code: "a")
    try context.save()
    try #require(try other.object(with: item.objectID)).code = "b"
    try other.save()
    #expect(keys(try context.holders(of: code, values: [[.text("a"), .text("b")]])) == [nil, item.objectID.key])
    #expect(item.code == "b")
  }

  /// - Parameter isDisturbed: Whether contexts hear again and again that the store has changed, and not what.
  @Test("the objects of a fetch, whatever was changed", arguments: cases, [false, true])
  func random(_ test: Case, isDisturbed: Bool) throws {
    for seed in 1...TestSettings.number("TRELLIS_HOLDERS", or: 1) {
      var random = SeededGenerator(seed: UInt64(seed))
      let line = try Line(test)
      let code = try key("Ware", "code")
      let codes = (0..<12).map { "c\($0)" }
      for step in 0..<60 {
        if isDisturbed && Bool.random(using: &random) { line.top.graph.core.hub.post(.ofExternalChanges, from: nil) }
        let context = line.contexts.randomElement(using: &random) ?? line.last
        let wanted = codes.randomElement(using: &random) ?? ""
        let taken = try line.last.exists(Ware.where { $0.code == wanted })
        let items = try context.fetch(Ware.all.sorted { $0.code })
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where !taken: _ = Gadget(in: context, code: wanted)
        case 1 where !taken: _ = Ware(in: context, code: wanted)
        case 2 where !taken: items.randomElement(using: &random)?.code = wanted
        case 3: items.randomElement(using: &random)?.note = "\(step)"
        case 4: if let item = items.randomElement(using: &random) { try context.delete(item) }
        case 5: do { try context.save(mergePolicy: .storeTrump) } catch is ValidationError {}
        default: items.randomElement(using: &random)?.code = nil
        }
        for context in line.contexts {
          let found = try context.holders(of: code, values: [codes.map(StoredValue.text)])
          for (code, holder) in zip(codes, found) {
            let fetched = try context.fetch(Ware.where { $0.code == code })
            #expect(holder == nil ? fetched.isEmpty : fetched.contains { $0 === holder }, "seed \(seed), step \(step)")
          }
        }
      }
    }
  }
}
