import Foundation
import Testing

/// One row of the rules of `trellis diff --api`: what changes in a model, and what that means for whom.
private struct ChangeRule: CustomTestStringConvertible, Sendable {
  let old: String
  let new: String
  /// As `for impact code subject`, all of them.
  let changes: Set<String>

  var testDescription: String { changes.sorted().joined(separator: "; ") }

  /// Changes that each model with another text has.
  private static let additive = "rollout safe additive M"

  init(_ old: String, _ new: String, isAdditive: Bool, _ changes: String...) {
    self.init(old, new, isAdditive: isAdditive, changes)
  }

  init(_ old: String, _ new: String, isAdditive: Bool, _ changes: [String]) {
    (self.old, self.new) = (old, new)
    self.changes = Set(changes + (isAdditive ? [Self.additive] : []))
  }
}

@Suite("trellis diff --api") struct APIDiffTests {
  /// A model with the entity A, of some attributes, which others may follow.
  private static func model(_ attributes: String, _ head: String = "", _ rest: String = "", top: String = "") -> String
  {
    #"{ "model": "M", \#(top)"entities": { "A": { \#(head)"attributes": { "n": "string", \#(attributes) } }\#(rest) } }"#
  }

  private static func rule(_ old: String, _ new: String, isAdditive: Bool = true, _ changes: String...) -> ChangeRule {
    ChangeRule(model(old), model(new), isAdditive: isAdditive, changes)
  }

  private static let json = #""json": { "key": "n" }, "unique": ["n"], "#

  /// Rules of generated Swift declarations.
  private static let swift: [ChangeRule] = [
    rule(
      #""a": "int64?""#, #""b": "int64?""#, isAdditive: false, "swift breaking property-removed A.a",
      "swift safe property-added A.b", "rollout breaking not-additive A.a"),
    rule(
      #""a": "int64""#, #""b": { "type": "int64", "renamedFrom": "a" }"#, isAdditive: false,
      "swift breaking property-renamed A.a", "rollout breaking not-additive A.a"),
    rule(#""a": "int64""#, #""a": { "type": "int64", "swiftName": "b" }"#, "swift breaking property-renamed A.a"),
    rule(
      #""a": "int16""#, #""a": "int64""#, isAdditive: false, "swift breaking type-changed A.a",
      "rollout breaking not-additive A.a"),
    rule(
      #""a": "int64""#, #""a": "int64?""#, isAdditive: false, "swift breaking became-optional A.a",
      "rollout breaking not-additive A.a"),
    rule(
      #""a": "int64?""#, #""a": { "type": "int64", "backfill": 1 }"#, isAdditive: false,
      "swift breaking became-required A.a", "swift breaking argument-needed A.a", "rollout breaking not-additive A.a"),
    rule(#""a": { "type": "int64", "default": 1 }"#, #""a": "int64""#, "swift breaking argument-needed A.a"),
    rule(
      #""a": { "type": "int64", "default": 1 }"#, #""a": { "type": "int64", "default": 2 }"#,
      "swift aware default-changed A.a"),
    rule(#""a": "int64", "b": "int64""#, #""b": "int64", "a": "int64""#, "swift breaking argument-order A"),
    rule(
      #""a": { "type": "int64", "max": 9 }"#, #""a": { "type": "int64", "max": 5 }"#, "swift aware rules-tightened A.a",
      "rollout aware rules-tightened A.a"),
    rule(
      #""a": { "type": "int64", "max": 5 }"#, #""a": { "type": "int64", "max": 9 }"#, "swift safe rules-loosened A.a",
      "rollout aware rules-loosened A.a"),
    rule(
      #""a": "data?""#, #""a": { "type": "data?", "externalStorage": true }"#, isAdditive: false,
      "swift breaking external-changed A.a", "rollout breaking not-additive A.a"),
    rule(
      #""d": { "type": "string", "derived": "n" }"#, #""d": { "type": "string", "derived": "n + '!'" }"#,
      "swift aware derivation-changed A.d", "store aware derived-changed A.d"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, "", #", "B": { "attributes": { "b": "string" } }"#),
      isAdditive: true, "swift safe class-added B"),
    ChangeRule(
      model(#""a": "int64?""#, "", #", "B": { "attributes": { "b": "string" } }"#), model(#""a": "int64?""#),
      isAdditive: false, "swift breaking class-removed B", "rollout breaking not-additive B"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""swiftName": "C", "#), isAdditive: true,
      "swift breaking class-renamed A"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""abstract": true, "#, #", "B": { "parent": "A" }"#),
      isAdditive: false, "swift breaking class-abstract A", "swift safe class-added B",
      "rollout breaking not-additive A", "rollout breaking not-additive B"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""hooks": ["willSave"], "#), isAdditive: true,
      "swift breaking hook-added A"),
    ChangeRule(
      model(#""a": "int64?""#, #""hooks": ["willSave"], "#), model(#""a": "int64?""#), isAdditive: true,
      "swift aware hook-removed A"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""unique": ["n"], "#), isAdditive: false,
      "swift aware unique-added A", "rollout breaking not-additive A: n"),
    ChangeRule(
      model(#""a": "int64?""#, #""fetchRequests": { "some": { "predicate": "n == $x" } }, "#),
      model(#""a": "int64?""#, #""fetchRequests": { "some": { "predicate": "n == $y" }, "other": {} }, "#),
      isAdditive: true,
      "swift breaking request-arguments A.some", "swift safe request-added A.other"),
    ChangeRule(
      model(#""a": "int64?""#, #""fetchRequests": { "some": { "predicate": "n == $x" }, "other": {} }, "#),
      model(#""a": "int64?""#, #""fetchRequests": { "some": { "predicate": "n != $x" } }, "#), isAdditive: true,
      "swift aware request-changed A.some", "swift breaking request-removed A.other"),
  ]

  /// A composite, and an attribute with it.
  private static func composite(_ fields: String) -> String {
    model(#""p": "P""#, top: #""composites": { "P": { "attributes": { \#(fields) } } }, "#)
  }

  private static let compositeRules: [ChangeRule] = [
    ChangeRule(
      model(#""a": "int64?""#, top: #""composites": { "P": { "attributes": { "x": "int64" } } }, "#),
      composite(#""x": "int64""#),
      isAdditive: false, "swift breaking argument-needed A.p", "swift safe property-added A.p.x",
      "swift breaking property-removed A.a", "rollout breaking not-additive A.a", "rollout breaking not-additive A.p.x"),
    rule(
      #""a": { "type": "int64", "transient": true }"#, #""a": { "type": "int64", "transient": true }, "b": "int64?""#,
      "swift safe property-added A.b"),
    ChangeRule(
      composite(#""x": "int64""#), composite(#""x": "int64", "y": "int64?""#), isAdditive: true,
      "swift safe field-added P.y", "swift safe property-added A.p.y"),
    ChangeRule(
      composite(#""x": "int64", "y": "int64?""#), composite(#""x": "int64""#), isAdditive: false,
      "swift breaking field-removed P.y", "swift breaking property-removed A.p.y", "rollout breaking not-additive A.p.y"
    ),
  ]

  private static func enums(_ cases: String, _ more: String = "") -> String {
    model(#""a": "E""#, top: #""enums": { "E": { "type": "string", "cases": [\#(cases)]\#(more) } }, "#)
  }

  private static let enumRules: [ChangeRule] = [
    ChangeRule(
      enums(#""x""#), enums(#""x", "y""#), isAdditive: true, "swift breaking case-added E.y",
      "rollout breaking case-added E.y"),
    ChangeRule(
      enums(#""x""#, #", "unknown": "preserve""#), enums(#""x", "y""#, #", "unknown": "preserve""#), isAdditive: true,
      "swift breaking case-added E.y", "rollout safe case-added E.y"),
    ChangeRule(
      enums(#""x""#, #", "unknown": { "default": "x" }"#), enums(#""x", "y""#, #", "unknown": { "default": "x" }"#),
      isAdditive: true,
      "swift breaking case-added E.y", "rollout aware case-added E.y"),
    ChangeRule(
      enums(#""x""#), enums(#""x""#, #", "unknown": "preserve""#), isAdditive: true, "swift breaking unknown-case E"),
  ]

  private static func mapped(_ attributes: String, json: String = json, top: String = "") -> String {
    model(attributes, json, top: top)
  }

  private static func mappedRule(_ old: String, _ new: String, isAdditive: Bool = true, _ changes: String...)
    -> ChangeRule
  {
    ChangeRule(mapped(old), mapped(new), isAdditive: isAdditive, changes)
  }

  /// Rules of documents.
  private static let documents: [ChangeRule] = [
    mappedRule(
      #""a": "int64?""#, #""a": { "type": "int64?", "json": "b" }"#, "import breaking place-changed A.a",
      "export breaking place-changed A.a"),
    mappedRule(
      #""a": "int64?""#, #""a": { "type": "int64?", "json": false }"#, "import aware value-removed A.a",
      "export breaking value-removed A.a"),
    mappedRule(
      #""a": { "type": "int64?", "json": false }"#, #""a": "int64?""#, "import safe value-added A.a",
      "export safe value-added A.a"),
    mappedRule(
      #""a": "int64?""#, #""a": "int64?", "b": { "type": "int64", "backfill": 1 }"#, "import breaking value-needed A.b",
      "export safe value-added A.b", "swift breaking argument-needed A.b", "swift safe property-added A.b"),
    mappedRule(
      #""a": { "type": "date?", "json": { "date": "seconds" } }"#,
      #""a": { "type": "date?", "json": { "date": "milliseconds" } }"#, "import breaking date-format A.a",
      "export breaking date-format A.a"),
    mappedRule(
      #""a": "string?""#, #""a": { "type": "string?", "json": { "take": "trimmed" } }"#,
      "import aware reading-changed A.a"),
    mappedRule(
      #""a": { "type": "string?", "maxLength": 9 }"#, #""a": { "type": "string?", "maxLength": 5 }"#,
      "import breaking rules-tightened A.a", "swift aware rules-tightened A.a", "rollout aware rules-tightened A.a"),
    mappedRule(
      #""a": { "type": "string?", "maxLength": 5 }"#, #""a": { "type": "string?", "maxLength": 9 }"#,
      "export aware rules-loosened A.a", "swift safe rules-loosened A.a", "rollout aware rules-loosened A.a"),
    mappedRule(
      #""a": "int16?""#, #""a": "int32?""#, isAdditive: false, "import safe form-changed A.a",
      "export aware form-changed A.a", "swift breaking type-changed A.a", "rollout breaking not-additive A.a"),
    mappedRule(
      #""a": "int32?""#, #""a": { "type": "int16?", "convert": "lossy" }"#, isAdditive: false,
      "import breaking form-changed A.a", "export safe form-changed A.a", "swift breaking type-changed A.a",
      "rollout breaking not-additive A.a", "rollout breaking not-additive A.a"),
    mappedRule(
      #""a": "int32?""#, #""a": "string?""#, isAdditive: false, "import breaking form-changed A.a",
      "export breaking form-changed A.a", "swift breaking type-changed A.a", "rollout breaking not-additive A.a"),
    mappedRule(
      #""a": "uuid?""#, #""a": "string?""#, isAdditive: false, "import safe form-changed A.a",
      "export aware form-changed A.a", "swift breaking type-changed A.a", "rollout breaking not-additive A.a"),
    mappedRule(
      #""a": "int32""#, #""a": "int32?""#, isAdditive: false, "import safe became-optional A.a",
      "export breaking became-optional A.a", "swift breaking became-optional A.a", "rollout breaking not-additive A.a"),
    ChangeRule(
      mapped(#""a": "int64?""#), model(#""a": "int64?""#, #""unique": ["n"], "#), isAdditive: true,
      "import breaking mapping-removed A", "export breaking mapping-removed A"),
    ChangeRule(
      model(#""a": "int64?""#, #""unique": ["n"], "#), mapped(#""a": "int64?""#), isAdditive: true,
      "import safe mapping-added A", "export safe mapping-added A"),
    ChangeRule(
      mapped(#""aB": "int64?""#),
      mapped(#""aB": "int64?""#, json: #""json": { "key": "n", "style": "snake_case" }, "unique": ["n"], "#),
      isAdditive: true, "import breaking place-changed A.aB", "export breaking place-changed A.aB"),
    ChangeRule(
      mapped(#""a": "int64""#, json: #""json": { "key": "n" }, "unique": [["n"], ["a"]], "#),
      mapped(#""a": "int64""#, json: #""json": { "key": "a" }, "unique": [["n"], ["a"]], "#), isAdditive: true,
      "import breaking key-changed A"),
    ChangeRule(
      mapped(#""a": "E?""#, top: #""enums": { "E": { "type": "string", "cases": ["x", "y"] } }, "#),
      mapped(#""a": "E?""#, top: #""enums": { "E": { "type": "string", "cases": ["x", "z"] } }, "#), isAdditive: false,
      "rollout breaking not-additive A.a",
      "import breaking cases-removed A.a", "export safe cases-removed A.a", "import safe cases-added A.a",
      "export aware cases-added A.a",
      "swift breaking case-removed E.y", "swift breaking case-added E.z", "rollout breaking case-added E.z"),
  ]

  /// Rules of what a store makes for itself.
  private static let stores: [ChangeRule] = [
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""indexes": [["a"]], "#), isAdditive: true,
      "store safe index-added A"),
    ChangeRule(
      model(#""a": "int64?""#, #""indexes": [["a"], ["n"]], "#), model(#""a": "int64?""#, #""indexes": [["n"]], "#),
      isAdditive: true, "store safe index-removed A"),
    rule(#""a": "string?""#, #""a": { "type": "string?", "searchable": true }"#, "store safe search-added A.a"),
    rule(#""a": { "type": "string?", "searchable": true }"#, #""a": "string?""#, "store aware search-removed A.a"),
    rule(
      #""a": "int64?""#, #""a": "int64?", "d": { "type": "string", "derived": "n", "stored": true }"#,
      "store safe derived-added A.d", "swift safe property-added A.d"),
    rule(
      #""d": { "type": "string", "derived": "n" }"#, #""d": { "type": "string", "derived": "n", "stored": true }"#,
      "store safe derived-stored A.d"),
    rule(
      #""d": { "type": "string", "derived": "n" }"#, #""a": "int64?""#, "store safe derived-removed A.d",
      "swift breaking property-removed A.d", "swift safe property-added A.a"),
    ChangeRule(
      model(#""a": "int64?""#), model(#""a": "int64?""#, #""history": true, "#), isAdditive: true,
      "store aware history-changed A"),
  ]

  private static func linked(_ one: String, _ all: String = #""toMany": true"#, _ rest: String = "") -> String {
    """
    { "model": "M", "entities": {
      "A": { "attributes": { "n": "string" }, "relationships": { "one": { "destination": "B", "inverse": "many", \(one) } } },
      "B": { "attributes": { "b": "string" }, "relationships": { "many": { "destination": "A", "inverse": "one", \(all) } } }\(rest)
    } }
    """
  }

  /// Rules of relationships.
  private static let relationships: [ChangeRule] = [
    ChangeRule(
      linked(#""optional": true"#), linked(#""toMany": true"#), isAdditive: false, "swift breaking type-changed A.one",
      "rollout breaking not-additive A.one", "rollout breaking not-additive B.many"),
    ChangeRule(
      linked(#""optional": true"#), linked(#""optional": true"#, #""toMany": true, "ordered": true"#),
      isAdditive: false, "swift breaking order-changed B.many", "rollout breaking not-additive A.one",
      "rollout breaking not-additive B.many"),
    ChangeRule(
      linked(#""optional": true"#), linked(#""optional": true"#, #""toMany": true, "deleteRule": "cascade""#),
      isAdditive: true, "swift aware delete-rule B.many"),
    ChangeRule(
      linked(#""optional": true"#), linked(#""optional": false"#), isAdditive: false,
      "swift aware rules-tightened A.one", "rollout breaking not-additive A.one"
    ),
    ChangeRule(
      linked(#""optional": false"#), linked(#""optional": true"#), isAdditive: false, "swift safe rules-loosened A.one",
      "rollout breaking not-additive A.one"),
  ]

  private static let all = swift + compositeRules + enumRules + documents + stores + relationships

  @Test("each rule tells all that its change means, and nothing else", arguments: all.indices)
  func rules(_ number: Int) throws {
    let rule = Self.all[number]
    let folder = try ToolFolder()
    try folder.write(rule.old, to: "Old.model.json")
    try folder.write(rule.new, to: "New.model.json")
    let outcome = try folder.run("diff", "--api", "--json", "Old.model.json", "New.model.json")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    guard outcome.status == 0 else { return }
    let lists = try JSONDecoder().decode([Changes].self, from: Data(outcome.output.utf8))
    #expect(lists.count == 1 && lists[0].old == "Old.model.json")
    let found = Set(lists[0].changes.map { "\($0.for) \($0.impact) \($0.code) \($0.subject)" })
    #expect(
      found == rule.changes, "missing \(rule.changes.subtracting(found)), too many \(found.subtracting(rule.changes))")
  }

  @Test(
    "the generated declarations change where a rule says that Swift code breaks, and stay where none does",
    arguments: all.indices)
  func declarations(_ number: Int) throws {
    let rule = Self.all[number]
    let breaks = rule.changes.contains { $0.hasPrefix("swift breaking ") }
    // What a program has to declare itself is no declaration of the generated code.
    if rule.changes.contains(where: { $0.hasPrefix("swift breaking hook-added ") }) { return }
    let (old, new) = (try Declarations(rule.old), try Declarations(rule.new))
    #expect(new.serves(old) != breaks, "\(old) → \(new)")
  }

  /// What the generated code of a model offers to others.
  private struct Declarations: CustomStringConvertible {
    private struct Argument: Equatable {
      let name: String
      let isNeeded: Bool
    }

    private var lines: Set<String> = []
    private var cases: Set<String> = []
    /// The arguments of the initializers, by class.
    private var initializers: [String: [Argument]] = [:]

    init(_ model: String) throws {
      let folder = try ToolFolder()
      try folder.write(model, to: "M.model.json")
      let outcome = try folder.run(["--print", "M.model.json"], program: "trellis-gen")
      #expect(outcome.status == 0, "\(outcome.errors)")
      var owners: [(indent: Int, name: String)] = []
      var arguments: [Argument]?
      for line in outcome.output.split(separator: "\n") {
        let indent = line.prefix { $0 == " " }.count
        let text = String(line.dropFirst(indent))
        if let known = arguments {
          if text.hasPrefix(")") {
            initializers[owners.map(\.name).joined(separator: " ")] = known
            arguments = nil
          } else if !text.hasPrefix("in ") {
            arguments = known + [Argument(name: String(text.split(separator: ":")[0]), isNeeded: !text.contains(" = "))]
          }
          continue
        }
        owners.removeAll { $0.indent >= indent }
        if text.hasPrefix("case "), text.dropFirst(5).first?.isLetter == true, !text.hasSuffix(":") {
          cases.insert("\(owners.map(\.name)) \(text)")
        }
        guard text.hasPrefix("public ") else { continue }
        let head = text.prefix { $0 != "{" }.trimmingCharacters(in: .whitespaces)
        let path = owners.map(\.name).joined(separator: " ")
        if text == "public init(" {
          arguments = []
        } else if head.hasPrefix("public init(in context") {
          initializers[path] = head.split(separator: ", ").dropFirst().map {
            Argument(name: String($0.split(separator: ":")[0]), isNeeded: !$0.contains(" = "))
          }
        } else if [" class ", " struct ", " enum "].contains(where: head.contains), text.hasSuffix("{") {
          owners.append((indent, head))
          lines.insert("\(path) \(head)")
        } else if !head.contains(" init") {
          lines.insert("\(path) \(head.split(separator: " = ")[0])")
        }
      }
    }

    /// Whether code that uses other declarations compiles with these.
    func serves(_ former: Declarations) -> Bool {
      guard former.lines.isSubset(of: lines), cases == former.cases else { return false }
      return former.initializers.allSatisfy { path, arguments in
        guard let current = initializers[path] else { return false }
        var rest = current[...]
        for argument in arguments {
          guard let place = rest.firstIndex(where: { $0.name == argument.name }) else { return false }
          rest = rest[(place + 1)...]
        }
        let needed = Set(arguments.filter(\.isNeeded).map(\.name))
        return current.allSatisfy { !$0.isNeeded || needed.contains($0.name) }
      }
    }

    var description: String { "\(lines.sorted()) \(cases.sorted()) \(initializers)" }
  }

  private struct Changes: Decodable {
    struct Change: Decodable {
      let `for`: String
      let impact: String
      let code: String
      let subject: String
      let message: String
    }

    let old: String
    let changes: [Change]
  }

  @Test("a model that is the same changes nothing for anybody")
  func same() throws {
    let folder = try ToolFolder()
    try folder.write(Self.mapped(#""a": "int64?""#), to: "M.model.json")
    let outcome = try folder.run("diff", "--api", "M.model.json", "M.model.json", "--check", "all")
    #expect(outcome == .init(status: 0, output: "M.model.json → M.model.json\n  nothing changes for others\n"))
  }

  @Test("the exit code is that of those who are named")
  func check() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model(#""a": "int64?""#), to: "Old.model.json")
    try folder.write(Self.model(#""a": { "type": "int64?", "swiftName": "b" }"#), to: "New.model.json")
    func status(_ names: String?) throws -> Int32 {
      try folder.run(["diff", "Old.model.json", "New.model.json", "--api"] + (names.map { ["--check", $0] } ?? []))
        .status
    }
    #expect(try status(nil) == 0 && status("import,export,rollout,store") == 0)
    #expect(try status("swift") == 1 && status("import,swift") == 1 && status("all") == 1)
    #expect(try status("Swift") == 64 && status("") == 64)
    #expect(try folder.run("diff", "Old.model.json", "New.model.json", "--check", "all").status == 64)
    #expect(try folder.run("diff", "Old.model.json", "New.model.json", "--api", "--store", "x").status == 64)
  }

  @Test("the plan of a migration is followed by indexes, searches and derived attributes")
  func besideThePlan() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model(#""a": "string?""#), to: "Old.model.json")
    try folder.write(
      Self.model(#""a": { "type": "string?", "searchable": true }"#, #""indexes": [["a"]], "#), to: "New.model.json")
    let outcome = try folder.run("diff", "Old.model.json", "New.model.json")
    #expect(outcome.status == 0)
    #expect(
      outcome.output.split(separator: "\n").dropFirst() == [
        "  nothing to do", "  store: A: a new index on a, which an opening makes",
        "  store: A.a: in the full-text index, which an opening makes",
      ])
  }
}
