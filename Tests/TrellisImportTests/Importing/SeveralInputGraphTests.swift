import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisTestSupport

/// Graphs of objects that require each other, spread over inputs by chance. What an import has to make of them is worked
/// out from the graph alone.
@Suite("Random graphs in several inputs") struct SeveralInputGraphTests {
  private static let count = TestSettings.number("TRELLIS_IMPORT_GRAPHS", or: 40)
  private static let seed = TestSettings.number("TRELLIS_IMPORT_SEED", or: UInt64(20_261_127))

  private struct Link {
    let name: String
    let destination: Int
    let isToMany: Bool
    let isRequired: Bool
  }

  private struct Node: Hashable {
    let entity: Int
    let id: Int
  }

  private struct Values: Equatable {
    var value: Int?
    /// The ids of partners by the number of the link.
    var partners: [Int: Set<Int>] = [:]
  }

  private typealias Graph = [Node: Values]

  private struct Case {
    var random: SeededGenerator
    let links: [[Link]]

    init(_ seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      let entities = 1 + random.below(4)
      links = (0..<entities).map { entity in
        (0..<1 + random.below(3)).map { number in
          let isToMany = random.below(4) == 0
          return Link(
            name: "l\(entity)x\(number)", destination: random.below(entities), isToMany: isToMany,
            isRequired: !isToMany && random.below(5) < 3)
        }
      }
      self.random = random
    }

    var model: String {
      let entities = links.indices.map { entity in
        let own = links[entity].map { link in
          """
          "\(link.name)": { "destination": "E\(link.destination)", "inverse": "of_\(link.name)",
            \(link.isToMany ? "\"toMany\": true," : link.isRequired ? "" : "\"optional\": true,") "json": true }
          """
        }
        let inverses = links.indices.flatMap { other in
          links[other].filter { $0.destination == entity }.map { link in
            """
            "of_\(link.name)": { "destination": "E\(other)", "inverse": "\(link.name)", "toMany": true, "json": false }
            """
          }
        }
        return """
          "E\(entity)": { "json": { "key": "id" }, "attributes": { "id": "int64", "value": "int32?" },
            "relationships": { \((own + inverses).joined(separator: ", ")) }, "unique": ["id"] }
          """
      }
      return "{ \"model\": \"G\", \"entities\": { \(entities.joined(separator: ",\n")) } }"
    }

    /// Objects, of which some refer to absent ones.
    mutating func graph() -> Graph {
      var graph: Graph = [:]
      for entity in links.indices {
        for id in 0..<7 where random.below(8) > 0 {
          var values = Values(value: random.below(3) == 0 ? nil : random.below(100))
          for (number, link) in links[entity].enumerated() where link.isRequired || random.below(4) > 0 {
            let ids = (0..<(link.isToMany ? random.below(4) : 1)).map { _ in random.below(7) }
            values.partners[number] = Set(ids)
          }
          graph[Node(entity: entity, id: id)] = values
        }
      }
      return graph
    }

    /// The inputs: each object as one record, or as two that share its properties.
    mutating func inputs(of graph: Graph, _ shelf: DynamicShelf) throws -> [JSONInput] {
      var records: [(entity: Int, text: String)] = []
      for (node, values) in graph.sorted(by: { ($0.key.entity, $0.key.id) < ($1.key.entity, $1.key.id) }) {
        var parts = Array(repeating: ["\"id\": \(node.id)"], count: 1 + random.below(2))
        func add(_ text: String) {
          let place = random.below(parts.count)
          parts[place].append(text)
        }
        if let value = values.value { add("\"value\": \(value)") }
        for (number, ids) in values.partners.sorted(by: { $0.key < $1.key }) {
          let link = links[node.entity][number]
          let members = ids.sorted().map { id in
            let isNested = graph[Node(entity: link.destination, id: id)] != nil && random.below(4) == 0
            return isNested ? "{\"id\": \(id)}" : "\(id)"
          }
          add("\"\(link.name)\": \(link.isToMany ? "[\(members.joined(separator: ", "))]" : members[0])")
        }
        records += parts.map { (node.entity, "{\($0.shuffled(using: &random).joined(separator: ", "))}") }
      }
      records.shuffle(using: &random)
      var files: [(entity: Int, texts: [String])] = []
      for entity in links.indices {
        let own = records.filter { $0.entity == entity }.map(\.text)
        let count = 1 + random.below(4)
        files += (0..<count).map { file in
          (entity, own.enumerated().filter { $0.offset % count == file }.map(\.element))
        }
      }
      files.shuffle(using: &random)
      return try files.enumerated().map { number, file in
        let name = "\(number)"
        switch random.below(3) {
        case 0: return try shelf.input("E\(file.entity)", file.texts.joined(separator: "\n"), name, lines: true)
        case 1: return try shelf.input("E\(file.entity)", "[" + file.texts.joined(separator: ",\n") + "]", name)
        default:
          let text = "{\"a\": 1, \"items\": [\(file.texts.joined(separator: ", "))]}"
          return try shelf.input("E\(file.entity)", text, name, at: "items[*]")
        }
      }
    }

    /// The store after an import of a graph: an object is made if all that it requires is there, or is made.
    func merged(_ graph: Graph, into store: Graph) -> Graph {
      var present = Set(store.keys).union(graph.keys)
      func has(_ link: Link, _ id: Int) -> Bool { present.contains(Node(entity: link.destination, id: id)) }
      while true {
        let impossible = present.filter { node in
          store[node] == nil
            && links[node.entity].enumerated().contains { number, link in
              link.isRequired && !(graph[node]?.partners[number] ?? []).contains { has(link, $0) }
            }
        }
        if impossible.isEmpty { break }
        present.subtract(impossible)
      }
      var result = store
      for (node, values) in graph where present.contains(node) {
        var merged = store[node] ?? Values()
        merged.value = values.value ?? merged.value
        for (number, ids) in values.partners {
          let link = links[node.entity][number]
          let found = ids.filter { has(link, $0) }
          if link.isToMany || !found.isEmpty { merged.partners[number] = found }
        }
        result[node] = merged
      }
      return result
    }

    func found(in shelf: DynamicShelf) throws -> Graph {
      var graph: Graph = [:]
      let context = shelf.container.newContext()
      for entity in links.indices {
        for object in try context.objects("E\(entity)") {
          var values = Values(value: Self.number(try object.value("value")))
          for (number, link) in links[entity].enumerated() {
            let partners =
              link.isToMany ? try object.members(link.name) : try [object.partner(link.name)].compactMap(\.self)
            values.partners[number] = Set(try partners.compactMap { Self.number(try $0.value("id")) })
          }
          graph[Node(entity: entity, id: Self.number(try object.value("id")) ?? -1)] = values
        }
      }
      return graph
    }

    private static func number(_ value: StoredValue) -> Int? {
      if case .integer(let number) = value { Int(number) } else { nil }
    }
  }

  /// Without links that have no partners, which a store does not tell from absent ones.
  private func plain(_ graph: Graph) -> Graph {
    graph.mapValues { values in
      Values(value: values.value, partners: values.partners.filter { !$0.value.isEmpty })
    }
  }

  @Test("are imported as the graph says, whatever the order and the number of the inputs")
  func graphs() throws {
    var (rings, rejections) = (0, 0)
    for number in 0..<Self.count {
      var example = Case(Self.seed &+ UInt64(number))
      let shelf = try DynamicShelf(example.model)
      var store: Graph = [:]
      for round in 0..<3 {
        let note = Comment("TRELLIS_IMPORT_SEED=\(Self.seed &+ UInt64(number)), round \(round)")
        let graph = example.graph()
        let expected = example.merged(graph, into: store)
        let isWhole = Set(graph.keys).isSubset(of: expected.keys)
        let rejecting: JSONRejection = example.random.below(3) == 0 ? .everything : .objects
        let inputs = try example.inputs(of: graph, shelf)
        let pieces = 1 + example.random.below(60)
        do {
          let report = try shelf.take(together: inputs, rejecting: rejecting, pieces: pieces)
          #expect(rejecting == .objects || isWhole, note)
          #expect(report.rejected.isEmpty == isWhole, note)
          #expect(report.inserted.count == expected.count - store.count, note)
          #expect(report.deleted.isEmpty, note)
          let unplaced = (report.rejected + report.unresolved).filter { $0.place?.file == nil }
          #expect(unplaced.isEmpty, note)
          if store.isEmpty && isWhole { rings += 1 }
          rejections += report.rejected.count
          let changed = try example.found(in: shelf)
          #expect(plain(changed) == plain(expected), note)
          store = expected
          let again = try shelf.take(together: example.inputs(of: graph, shelf), pieces: pieces)
          #expect(again.inserted.isEmpty && again.updated.isEmpty, note)
        } catch let error as JSONImportError {
          #expect(rejecting == .everything && !isWhole, "\(note): \(error)")
        }
        #expect(try plain(example.found(in: shelf)) == plain(store), note)
      }
    }
    print("graphs in several inputs: seed \(Self.seed), \(Self.count) graphs, \(rings) whole, \(rejections) rejections")
    #expect(rings > 0 && rejections > 0)
  }
}
