import Foundation
import Testing
import Trellis

@Suite("Forms of requests") struct RequestFormTests {
  /// A box with as many items as its size, beside items without one.
  private func boxes(_ store: AnyStore) throws -> World {
    let world = try World(store)
    for size in [2, 0, 3, 1] {
      let box = Box(in: world.context, name: "box\(size)", size: Int64(size))
      box.items = ToMany((0..<size).map { Item(in: world.context, name: "\(size)-\($0)", count: Int64($0)) })
      box.queue += box.items
    }
    _ = Item(in: world.context, name: "loose")
    try world.context.save()
    return world
  }

  @Test("the number of members is a value beside others, in and out of memory", arguments: AnyStore.allCases)
  func counts(_ store: AnyStore) throws {
    let world = try boxes(store)
    for isChanged in [false, true] {
      if isChanged { try world.context.first(Box.where { $0.size == 0 })?.items.append(Item(in: world.context)) }
      let rows: [(String, Int64)] = try world.context.values(of: Box.all.sorted { $0.name }) {
        ($0.name, $0.items.count)
      }
      #expect(rows.map(\.0) == ["box0", "box1", "box2", "box3"])
      #expect(rows.map(\.1) == [isChanged ? 1 : 0, 1, 2, 3])
      #expect(try world.context.values(of: Box.all.sorted { $0.name }) { $0.queue.count } == [0, 1, 2, 3])
    }
    let parts = try world.context.values(of: Item.where { $0.name == "3-0" }) {
      ($0.parts.count, $0.tags.count, $0.name)
    }
    #expect(parts.map(\.0) == [0] && parts.map(\.1) == [0] && parts.map(\.2) == ["3-0"])
  }

  @Test("the number of members is a sort key, also behind a to-one", arguments: AnyStore.allCases)
  func sortedByCount(_ store: AnyStore) throws {
    let world = try boxes(store)
    let context = world.context
    #expect(try context.fetch(Box.all.sorted { $0.items.count }).map(\.size) == [0, 1, 2, 3])
    #expect(try context.fetch(Box.all.sorted { $0.items.count.descending }.limit(2)).map(\.size) == [3, 2])
    let items = Item.all.sorted {
      $0.box.items.count.descending
      $0.count
    }
    let expected = ["3-0", "3-1", "3-2", "2-0", "2-1", "1-0", "loose"]
    #expect(try context.fetch(items).map(\.name) == expected)
    // From here on the answer is made in memory.
    _ = Mark(in: context, name: "unsaved")
    try context.first(Box.where { $0.size == 0 })?.name = "renamed"
    #expect(try context.fetch(items).map(\.name) == expected)
    #expect(try context.fetch(Box.all.sorted { $0.items.count }).map(\.size) == [0, 1, 2, 3])
  }

  @Test("live results sorted by a number of members follow the members", arguments: AnyStore.allCases)
  func live(_ store: AnyStore) throws {
    let world = try boxes(store)
    let live: Box.LiveResults = try world.context.live(Box.all.sorted { $0.items.count.descending })
    #expect(live.map(\.size) == [3, 2, 1, 0])
    let empty = try #require(live.last)
    empty.items += (0..<4).map { _ in Item(in: world.context) }
    try world.context.save()
    #expect(live.map(\.size) == [0, 3, 2, 1])
  }

  @Test("if, switch and for choose sort keys", arguments: [true, false])
  func choosing(isDescending: Bool) throws {
    let world = try boxes(.memory)
    let context = world.context
    defer { withExtendedLifetime(world) {} }
    let request = Box.all.sorted {
      if isDescending { $0.size.descending } else { $0.size }
    }
    #expect(try context.fetch(request).map(\.size) == (isDescending ? [3, 2, 1, 0] : [0, 1, 2, 3]))
    let order = isDescending ? "name" : "none"
    let chosen = Box.all.sorted { box in
      switch order {
      case "name": box.name.descending
      default: box.size.ascending
      }
      if order == "none" { box.name }
      for _ in 0..<2 { box.size }
    }
    #expect(try context.fetch(chosen).map(\.size) == (isDescending ? [3, 2, 1, 0] : [0, 1, 2, 3]))
  }

  @Test("names that come at run time are sort keys", arguments: AnyStore.allCases)
  func names(_ store: AnyStore) throws {
    let world = try boxes(store)
    let context = world.context
    defer { withExtendedLifetime(world) {} }
    #expect(try context.fetch(Box.all.sorted(by: "-size")).map(\.size) == [3, 2, 1, 0])
    #expect(try context.fetch(Box.all.sorted(by: "items")).map(\.size) == [0, 1, 2, 3])
    #expect(
      try context.fetch(Item.all.sorted(by: ["-box.size", "name"])).map(\.name)
        == ["3-0", "3-1", "3-2", "2-0", "2-1", "1-0", "loose"])
    #expect(try context.fetch(Box.all.sorted { $0.size }.sorted(by: "-name")).map(\.size) == [3, 2, 1, 0])
    #expect(try context.fetch(Box.all.sorted(by: "-name").sorted { $0.size }).map(\.size) == [0, 1, 2, 3])
  }

  @Test(
    "a name that is none, or has no order, is refused with its place",
    arguments: [
      ("siez", PredicateFormatError.Code.unknownProperty, 0, "size"), ("-name.x", .manyValues, 6, ""),
      ("items.name", .manyValues, 6, ""), ("", .unknownProperty, 0, ""), ("-", .unknownProperty, 1, ""),
    ])
  func refusedNames(_ name: String, _ code: PredicateFormatError.Code, _ offset: Int, _ suggestion: String) throws {
    let world = try boxes(.memory)
    let context = world.context
    defer { withExtendedLifetime(world) {} }
    let error = #expect(throws: PredicateFormatError.self) { try context.fetch(Box.all.sorted(by: name)) }
    #expect(
      error?.code == code && error?.offset == offset && error?.suggestion ?? "" == suggestion,
      "\(String(describing: error))")
    for name in ["list", "box", "scratch"] {
      let error = #expect(throws: PredicateFormatError.self) { try context.fetch(Item.all.sorted(by: name)) }
      #expect(error?.code == .typeMismatch)
    }
  }

  @Test("a list of conditions is joined by or, or by and", arguments: AnyStore.allCases)
  func lists(_ store: AnyStore) throws {
    let world = try boxes(store)
    let context = world.context
    defer { withExtendedLifetime(world) {} }
    let sizes: [Int64] = [1, 3]
    let any = Box.where { box in QueryCondition.any(of: sizes.map { box.size == $0 }) }.sorted { $0.size }
    #expect(try context.fetch(any).map(\.size) == [1, 3])
    #expect(try context.count(Box.where { box in QueryCondition.all(of: sizes.map { box.size <= $0 }) }) == 2)
    #expect(try context.count(Box.where { _ in QueryCondition.any(of: []) }) == 0)
    #expect(try context.count(Box.where { _ in QueryCondition.all(of: []) }) == 4)
    let many = Item.where { item in QueryCondition.any(of: (0..<1_000).map { item.count == Int64($0 + 2) }) }
    #expect(try context.fetch(many).map(\.name) == ["3-2"])
  }

  @Test("an optional attribute lies in a range where it has a value", arguments: AnyStore.allCases)
  func ranges(_ store: AnyStore) throws {
    let world = try World(store)
    for weight in [nil, 1, 2, 3.5] as [Double?] { _ = Item(in: world.context, weight: weight) }
    try world.context.save()
    let weights = { (request: Item.FetchRequest) in
      try world.context.values(of: request.sorted { $0.weight }) { $0.weight }
    }
    #expect(try weights(Item.where { $0.weight.isIn(1...2) }) == [1, 2])
    #expect(try weights(Item.where { $0.weight.isIn(1..<2) }) == [1])
    #expect(try weights(Item.where { !$0.weight.isIn(2...9) }) == [nil, 1])
  }

  @Test("a request and its results have a type that can be named and kept")
  func types() throws {
    struct Shelf {
      var request: Box.FetchRequest = Box.all
      let filter: (Box.Columns) -> QueryCondition
    }
    let world = try boxes(.memory)
    let context = world.context
    defer { withExtendedLifetime(world) {} }
    var shelf = Shelf { $0.size > 1 }
    shelf.request = shelf.request.where(shelf.filter).sorted { $0.size }
    #expect(try context.fetch(shelf.request).map(\.size) == [2, 3])
    let rare: Rare.FetchRequest = Rare.where { $0.grade > 0 }
    #expect(try context.count(rare) == 0)
  }

  @Test("a request is printed as what people read")
  func printed() throws {
    _ = try World(.memory)
    let request = Item.where {
      $0.name.contains("커피", .caseInsensitive) || $0.count > 3
      $0.parts.any { $0.name == "x" }
    }.sorted {
      $0.box.size.descending
      $0.name
    }.limit(5).offset(2)
    let text =
      #"Item where (name CONTAINS[c] '커피' OR count > 3) AND ANY(parts, $v1, $v1.name == 'x')"#
      + " sorted by -box.size, name limit 5 offset 2"
    #expect("\(request)" == text)
    #expect("\(Item.all)" == "Item")
    let format = Item.where("name == %@", "a").sorted(by: "-count").storedOnly().withoutSubentities()
    #expect("\(format)" == "Item where name == %@ sorted by -count without subentities stored only")
  }
}
