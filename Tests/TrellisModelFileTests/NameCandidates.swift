import Foundation
import TrellisModel
import TrellisModelFile

/// Names that could clash with something in generated code: those that occur in it, the common types of Swift and Foundation,
/// and Swift's keywords.
enum NameCandidates {
  static func types() throws -> Set<String> {
    var names: Set<String> = ReservedNames.types.union(ReservedNames.shadowedTypes)
    names.formUnion(common.split(separator: " ").map(String.init))
    names.formUnion(try words().filter { $0.first?.isUppercase == true })
    return names
  }

  static func members() throws -> Set<String> { try words().filter { $0.first?.isLowercase == true } }
  static func all() throws -> Set<String> { try words().union(types()) }

  /// Every word of the generated code of the tests' models, keywords, and the members that are reserved.
  private static func words() throws -> Set<String> {
    var names = ReservedNames.members.union(ReservedNames.cases).union(ReservedNames.optionalCases)
    names.formUnion(ReservedNames.swiftWords)
    names.formUnion(keywords.split(separator: " ").map(String.init))
    for text in try texts(Folders.root.appending(path: "Tests/TrellisGeneratorTests/Golden")) {
      let code = text.replacing(/\/\/.*/, with: "").replacing(/"[^"\n]*"/, with: "")
      for match in code.matches(of: /\b[A-Za-z][A-Za-z0-9]*\b/) { names.insert(String(match.0)) }
    }
    return names
  }

  private static func texts(_ folder: URL) throws -> [String] {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
    let sources = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    return try sources.map { try String(contentsOf: $0, encoding: .utf8) }
  }

  private static let common = """
    Actor AllCases AnyClass AnyObject AnyHashable Array BinaryInteger Bool Bundle Calendar CaseIterable Character ClosedRange \
    Codable Collection Comparable CustomStringConvertible Data Date Decimal Decodable Decoder Dictionary Double Element \
    Encodable Encoder Equatable Event ExpressibleByArrayLiteral ExpressibleByIntegerLiteral ExpressibleByStringLiteral Fields \
    Float Hashable Hasher Identifiable Index Int Int16 Int32 Int64 Iterator Key KeyPath Locale MainActor Mirror Model Module \
    Observable Observation Operation Optional OptionSet Range RawRepresentable RawValue Schema Sendable Sequence Set Substring \
    Task Transients UInt64 URL UUID Value
    """

  private static let keywords = """
    actor any as associatedtype async await borrow borrowing break case catch class consume consuming continue \
    convenience copy default defer deinit didSet discard do dynamic each else enum extension fallthrough false fileprivate final \
    for func get guard if import in indirect infix init inout internal is isolated lazy let macro mutating nil nonisolated open \
    operator optional override package postfix precedence precedencegroup prefix private protocol public repeat required rethrows \
    return self sending set some static struct subscript super switch then throw throws true try typealias unowned unsafe var \
    weak where while willSet yield encode decode read write count first last map filter isEmpty sum
    """
}

extension NameCandidates {
  /// The models of names that may be used, each in the roles that it names.
  enum Recorded: String, CaseIterable {
    case entityNames = "EntityNames"
    case enumNames = "EnumNames"
    case memberNames = "MemberNames"

    /// Entities and enums of one name cannot be in one module.
    var folder: String { self == .enumNames ? "EnumNames" : "Names" }

    func text() throws -> String {
      switch self {
      case .entityNames: try model(entities: entities())
      case .enumNames: try model(enums: enums(), entities: ["EnumHolder: " + holder()])
      case .memberNames: try model(enums: cases(), entities: members())
      }
    }

    private func model(enums: [String] = [], entities: [String]) throws -> String {
      let lines = { (parts: [String]) in parts.map { part in "    " + quoted(part) }.joined(separator: ",\n") }
      return """
        {
          "model": "\(rawValue)",
          "enums": {
        \(lines(enums))
          },
          "entities": {
        \(lines(entities))
          }
        }

        """
    }

    /// `name: body` with the name in quotes.
    private func quoted(_ part: String) -> String {
      let name = part.prefix { $0 != ":" }
      return "\"\(name)\"\(part.dropFirst(name.count))"
    }

    /// The names that a role may have, of which no two differ by case alone.
    private func allowed(_ names: Set<String>, _ role: NameAgreementTests.Role) -> [String] {
      var seen: Set<String> = []
      return names.sorted().filter { name in
        let result = ModelFile.parse(Array(role.model(name).utf8), path: "M.model.json")
        return result.description != nil && seen.insert(name.lowercased()).inserted
      }
    }

    // MARK: Parts

    private func entities() throws -> [String] {
      let names = allowed(try types(), .entity)
      return names.enumerated().map { number, name in
        let (next, previous) = (names[(number + 1) % names.count], names[(number + names.count - 1) % names.count])
        return #"\#(name): { "attributes": { "x": "string" }, "relationships": { "next": { "destination": "\#(next)", "#
          + #""inverse": "last", "optional": true }, "last": { "destination": "\#(previous)", "inverse": "next", "#
          + #""toMany": true, "ordered": \#(number % 2 == 0) } } }"#
      }
    }

    private func enums() throws -> [String] {
      allowed(try types(), .enumeration).enumerated().map { number, name in
        let type = number % 2 == 0 ? "string" : "int"
        return #"\#(name): { "type": "\#(type)", "cases": ["a", "b"] }"#
      }
    }

    private func holder() throws -> String {
      let attributes = allowed(try types(), .enumeration).enumerated().map { #""e\#($0)": "\#($1)""# }
      return "{ \"attributes\": { \(attributes.joined(separator: ", ")) } }"
    }

    private func cases() throws -> [String] {
      let names = allowed(try all(), .enumCase)
      let list = names.filter { $0 != "unknown" }.map { "\"\($0)\"" }.joined(separator: ", ")
      return [
        #"Preserved: { "type": "string", "cases": [\#(list)], "unknown": "preserve" }"#,
        #"Rejected: { "type": "int", "cases": [\#(list)] }"#,
      ]
    }

    private func members() throws -> [String] {
      let names = allowed(try NameCandidates.members(), .attribute)
      let every = { (body: String) in names.map { "\"\($0)\": \(body)" }.joined(separator: ", ") }
      let half = { (odd: Bool, type: String) in
        names.enumerated().filter { ($0.offset % 2 == 0) != odd }.map { "\"\($0.element)\": \(type)" }.joined(
          separator: ", ")
      }
      let toMany = #"{ "destination": "Target", "toMany": true }"#
      return [
        "Target: {}",
        "Texts: { \"attributes\": { \(every("\"string\"")) }, \"unique\": [\"context\"] }",
        "Dates: { \"attributes\": { \(every("\"date?\"")) } }",
        "Memories: { \"attributes\": { \(every(#"{ "type": "string", "transient": true, "default": "x" }"#)) } }",
        "References: { \"relationships\": { \(every(#"{ "destination": "Target", "optional": true }"#)) } }",
        "Lists: { \"relationships\": { \(every(toMany)) } }",
        "Above: { \"attributes\": { \(half(false, "\"int64\"")) } }",
        "Below: { \"parent\": \"Above\", \"attributes\": { \(half(true, "\"bool\"")) } }",
        "Requests: { \"attributes\": { \"text\": \"string\" }, \"fetchRequests\": { "
          + names.map { #""\#($0)": { "predicate": "text == $\#($0)" }"# }.joined(separator: ", ") + " } }",
      ]
    }
  }
}
