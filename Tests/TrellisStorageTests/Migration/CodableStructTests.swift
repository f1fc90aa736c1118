import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable @_spi(Generated) import TrellisStorage

/// Values of a struct of the app that has changed since they were saved.
@Suite("Structs that have changed") struct CodableStructTests {
  /// A struct that got a property, and one deep inside of it.
  private struct Route: CodableAttribute {
    struct Stop: Codable, Hashable {
      var name: String
      var height: Double
    }

    var name = ""
    var stops: [Stop] = []
    var notes: [String: Int] = [:]
    var color: String?
    static let placeholder = Route()
  }

  /// As a program that reads its older values: a new property has a value in `init(from:)`.
  private struct Careful: CodableAttribute {
    var name = ""
    var height = 0.0
    static let placeholder = Careful()

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      height = try container.decodeIfPresent(Double.self, forKey: .height) ?? 0
    }
  }

  /// Reads a stored text as a struct.
  private func read<Value: CodableAttribute>(_ text: String, as _: Value.Type) throws -> (Value, RowProblem?) {
    let model = try Model(
      ModelDescription(
        name: "M", codableTypes: ["Route"],
        entities: [EntityDescription("Trip", attributes: [.init("route", .codable("Route"))])]))
    let store = MemoryStore(model)
    _ = try store.reserveKeys(10)
    let request = SaveRequest()
    request.inserts = [.init(entity: 0, records: [PlainRecord(model.entities[0], key: 1, [.text(text)])])]
    _ = try store.connect().save(request)
    var found: (Value, RowProblem?)?
    try store.connect().fetch(StoreRequest(entity: 0)) { row in
      let value = Value.read(row, 0)
      found = (value, row.problem)
    }
    return try #require(found)
  }

  @Test("a value that lacks a property names the struct, the path and the way out, and no value")
  func lacking() throws {
    let cases: [(String, String)] = [
      (#"{"stops":[],"notes":{}}"#, "it lacks name"),
      (
        #"{"name":"secret","stops":[{"name":"secret","height":1},{"name":"secret"}],"notes":{}}"#,
        "it lacks stops[1].height"
      ),
      (#"{"name":"secret","stops":[],"notes":{"secret":"secret"}}"#, "notes[…] is no Int"),
      (#"{"name":null,"stops":[],"notes":{}}"#, "name is null"),
      (#"{"name":"secret","stops":"secret","notes":{}}"#, "stops is no Array<Any>"),
    ]
    for (text, reason) in cases {
      let problem = try #require(try read(text, as: Route.self).1)
      #expect(problem.what == "the stored JSON is no Route, because \(reason)")
      #expect(
        problem.remedy
          == "Let Route read what it wrote before: make a new property optional, or give it a value in init(from:).")
    }
  }

  @Test("the ways out that the error names read the former values")
  func waysOut() throws {
    let optional = try read(#"{"name":"a","stops":[],"notes":{}}"#, as: Route.self)
    #expect(optional.1 == nil && optional.0.name == "a" && optional.0.color == nil)
    let careful = try read(#"{"name":"a"}"#, as: Careful.self)
    #expect(careful.1 == nil && careful.0.name == "a" && careful.0.height == 0)
  }

  @Test("a text that is no JSON needs a repair")
  func damaged() throws {
    let problem = try #require(try read("{", as: Route.self).1)
    #expect(problem.what == "the stored JSON is no Route" && problem.remedy == nil)
  }
}
