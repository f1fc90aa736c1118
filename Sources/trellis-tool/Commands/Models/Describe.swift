import TrellisDiagram
import TrellisModel

/// `trellis describe`: what a model declares, as tables for people or as JSON for programs.
enum Describe {
  static func run(_ operands: [String], asJSON: Bool) throws(ToolFailure) -> ExitStatus {
    let model = try ModelInput.modelOfAny(operands[0])
    let entity = try operands.dropFirst().first.map { name throws(ToolFailure) in
      try model.entity(named: name, for: .describe)
    }
    if asJSON {
      let described = DescribedModel(model)
      Console.print(entity.map { described.json(of: $0) } ?? described.json())
    } else {
      Console.print(entity.map { EntityTables(model, $0).text() } ?? overview(of: model))
    }
    return .success
  }

  // MARK: Overview

  private static func overview(of model: Model) -> String {
    let description = model.description
    var text = "Model \(model.name)" + (description.version.map { ", version \($0.onOneLine)" } ?? "") + "\n"
    if let doc = description.doc { text += doc.onOneLine + "\n" }
    if let history = DescribedHistory.text(of: model) { text += "History: \(history)\n" }
    if !model.entities.isEmpty { text += "\n" + entityTable(of: model).text }
    if !description.enums.isEmpty { text += "\n" + enumTable(of: model).text }
    if !description.codableTypes.isEmpty {
      text += "\nCodable types: \(description.codableTypes.joined(separator: ", "))\n"
    }
    return text
  }

  private static func entityTable(of model: Model) -> TextTable {
    var table = TextTable([["entity", "parent", "attributes", "relationships", "description"]])
    for (entity, description) in zip(model.entities, model.description.entities) {
      let relationships = entity.properties.compactMap(\.relationship).filter { $0.entity == entity.index }
      table.add([
        entity.name + (entity.isAbstract ? " (abstract)" : ""), description.parent ?? "",
        String(description.attributes.count + description.composites.count),
        relationships.map { "\($0.name): \($0.destinationText)" }.joined(separator: ", "),
        (description.doc ?? "").onOneLine,
      ])
    }
    return table
  }

  private static func enumTable(of model: Model) -> TextTable {
    let spelling = ValueSpelling(model: model)
    var table = TextTable([["enum", "type", "unknown values", "cases"]])
    for enumeration in model.description.enums {
      let cases = enumeration.cases.map { enumCase -> String in
        enumCase.rawValue == .text(enumCase.name)
          ? enumCase.name : "\(enumCase.name) = \(spelling.text(enumCase.rawValue, .string))"
      }
      table.add([
        enumeration.name, enumeration.rawType == .integer ? "int" : "string", enumeration.unknown.spelling,
        cases.joined(separator: ", ").onOneLine,
      ])
    }
    return table
  }
}

/// Everything about one entity, as tables. Inherited properties are among the others.
struct EntityTables {
  private let model: Model
  private let entity: Entity
  private let description: EntityDescription
  private let spelling: ValueSpelling
  private let mapping: DescribedMapping?

  init(_ model: Model, _ entity: Entity) {
    self.model = model
    self.entity = entity
    description = model.description.entities[entity.index]
    spelling = ValueSpelling(model: model)
    mapping = DescribedMapping(of: entity, in: model)
  }

  func text() -> String {
    var text = "Entity \(entity.name)"
    if let parent = entity.parent { text += ", child of \(model.entities[parent].name)" }
    if entity.isAbstract { text += ", abstract" }
    text += "\n"
    if let doc = description.doc { text += doc.onOneLine + "\n" }
    if let mapping { text += "JSON: \(mapping.text.onOneLine)\n" }
    if let history = model.history(of: entity.index).described { text += "History: \(history)\n" }
    if !decisions.isEmpty { text += "Sync: \(decisions.joined(separator: ", "))\n" }
    for (title, lines) in [
      ("Attributes", attributes), ("Relationships", relationships),
      ("Unique keys", uniqueKeys), ("Indexes", indexes), ("Full-text search", searchable), ("Fetch requests", requests),
      ("Hooks", description.hooks.map(\.rawValue)), ("Children", children),
    ] where !lines.isEmpty {
      text += "\n\(title)\n" + lines.map { "  \($0.onOneLine)\n" }.joined()
    }
    return text
  }

  private func inherited(_ owner: Int) -> String { owner == entity.index ? "" : model.entities[owner].name }

  // MARK: Properties

  private var attributes: [String] {
    lines(
      ["name", "of", "type", "optional", "default", "rules"] + mappingTitle, entity.properties.compactMap(\.attribute)
    ) { attribute in
      [
        attribute.name, inherited(attribute.entity), attribute.description.typeSpelling,
        attribute.isOptional ? "yes" : "",
        attribute.description.defaultValue.map { spelling.text($0, attribute.type) } ?? "",
        attribute.ruleTexts(spelling, isUnique: isUnique(attribute)).joined(separator: ", "),
      ] + mappingCell(.attribute(attribute))
    }
  }

  /// The lines of a table. Only children have a column for the entity that declares a property, the second one.
  private func lines<Row>(_ titles: [String], _ rows: [Row], _ cells: (Row) -> [String]) -> [String] {
    guard !rows.isEmpty else { return [] }
    func shown(_ cells: [String]) -> [String] {
      entity.parent == nil ? Array(cells.prefix(1) + cells.dropFirst(2)) : cells
    }
    var table = TextTable([shown(titles)])
    for row in rows { table.add(shown(cells(row)).map(\.onOneLine)) }
    return table.lines
  }

  /// Only mapped entities have a column for the mapping.
  private var mappingTitle: [String] { mapping == nil ? [] : ["json"] }

  private func mappingCell(_ property: Property) -> [String] { mapping.map { [$0.text(of: property)] } ?? [] }

  private func isUnique(_ attribute: Attribute) -> Bool {
    entity.uniqueKeys.contains { $0.properties == [attribute.index] }
  }

  /// What a server of replicas decides about the entity and its to-ones. That of attributes is among their rules.
  private var decisions: [String] {
    let own = description.sync.map { [$0.rawValue] } ?? []
    return own
      + entity.properties.compactMap(\.relationship).compactMap { relationship in
        relationship.description.sync.map { "\(relationship.name) \($0.rawValue)" }
      }
  }

  private var relationships: [String] {
    lines(
      ["name", "of", "destination", "count", "ordered", "inverse", "delete rule"] + mappingTitle,
      entity.properties.compactMap(\.relationship)
    ) { relationship in
      [
        relationship.name, inherited(relationship.entity), relationship.description.destination,
        relationship.countText, relationship.isOrdered ? "yes" : "", relationship.description.inverse ?? "none",
        relationship.deleteRule.spelling,
      ] + mappingCell(.relationship(relationship))
    }
  }

  // MARK: Lists

  private func names(_ properties: [Int]) -> String {
    properties.map { entity.properties[$0].name }.joined(separator: ", ")
  }

  private var uniqueKeys: [String] { entity.uniqueKeys.map { names($0.properties) } }

  private var indexes: [String] {
    entity.indexes.map { $0.spelling(in: entity).joined(separator: ", ") }
  }

  private var searchable: [String] {
    let names = entity.properties.compactMap(\.attribute).filter(\.description.isSearchable).map(\.name)
    return names.isEmpty ? [] : [names.joined(separator: ", ")]
  }

  private var requests: [String] {
    description.fetchRequests.map { request in
      var parts = [request.predicate ?? "all"]
      if !request.sort.isEmpty { parts.append("sorted by \(request.sort.map(\.spelling).joined(separator: ", "))") }
      if let limit = request.limit { parts.append("limit \(limit)") }
      if let offset = request.offset { parts.append("offset \(offset)") }
      if !request.prefetch.isEmpty { parts.append("with \(request.prefetch.joined(separator: ", "))") }
      return "\(request.name): \(parts.joined(separator: "; "))"
    }
  }

  private var children: [String] {
    model.entities.filter { $0.parent == entity.index }.map(\.name)
  }
}

extension Attribute {
  /// What a value has to obey, and how it is kept, in the words of the model file.
  func ruleTexts(_ spelling: ValueSpelling, isUnique: Bool) -> [String] {
    let rules = description.rules
    var texts: [String] = []
    if isUnique { texts.append("unique") }
    if let minimum = rules.minimum { texts.append("min \(spelling.text(minimum, type))") }
    if let maximum = rules.maximum { texts.append("max \(spelling.text(maximum, type))") }
    if let length = rules.minimumLength { texts.append("minLength \(length)") }
    if let length = rules.maximumLength { texts.append("maxLength \(length)") }
    if let pattern = rules.pattern { texts.append("pattern \(pattern)") }
    if let derivation = description.derivation {
      texts.append("\(description.storesDerivation ? "derived, stored" : "derived"): \(derivation)")
    } else if description.isTransient {
      texts.append("transient")
    }
    if description.isSearchable { texts.append("searchable") }
    if description.isExternal { texts.append("external storage") }
    if description.isKeptInHistory { texts.append("kept in history") }
    if let decision = description.sync { texts.append("sync \(decision.rawValue)") }
    return texts
  }
}

extension Relationship {
  /// How many objects there may be at the other end.
  var countText: String {
    if !isToMany { return isRequired ? "one" : "one or none" }
    guard let bounds = boundsText else { return "many" }
    // A minimum of an optional relationship does not forbid to have none.
    return description.isOptional && (description.minimumCount ?? 0) > 0 ? "\(bounds) or none" : bounds
  }
}

extension DeleteRule {
  /// The rule in two words, as a sentence has it.
  var spelling: String { self == .noAction ? "no action" : rawValue }
}

extension String {
  /// The text with a space for each line break and each other control character.
  fileprivate var onOneLine: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return String(
      String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
  }
}

// MARK: - Command

extension Describe {
  static let command = Command(
    operands: "MODEL|STORE [ENTITY]", needed: "a MODEL or a STORE", count: 1...2,
    options: [.init(name: "json", value: nil, summary: "print JSON for other programs")],
    summary: "list what a model declares, as tables",
    details: """
      Without ENTITY all entities are listed. STORE is a SQLite file or a JSON document of Trellis, which carries its
      model. Exit 0 if all is printed, 1 if the model has errors or the store is damaged, 64 if there is no such entity,
      66 if a file cannot be read.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands, asJSON: arguments.has("json"))
  }
}
