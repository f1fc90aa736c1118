import TrellisModel

/// Writes a model as an `erDiagram` of Mermaid.
///
/// Mermaid has no word for inheritance, delete rules, order and the bounds of a count, so these are in comments and labels.
struct MermaidText {
  private let model: Model
  private let shown: Set<Int>
  private var text = "erDiagram\n"

  /// - Parameter shown: the numbers of the entities to write.
  /// - Parameter details: what is noted at attributes, by the numbers of the entity and the property.
  static func text(_ model: Model, entities shown: Set<Int>, details: [[String]]? = nil) -> String {
    var writer = MermaidText(model: model, shown: shown, details: details)
    for entity in writer.entities { writer.add(entity) }
    for entity in writer.entities { writer.addLines(of: entity) }
    return writer.text
  }

  private let details: [[String]]?

  private init(model: Model, shown: Set<Int>, details: [[String]]?) {
    self.model = model
    self.details = details
    self.shown = shown
  }

  private var entities: [Entity] { model.entities.filter { shown.contains($0.index) } }

  // MARK: Entities

  private mutating func add(_ entity: Entity) {
    let attributes = entity.ownAttributes
    let title = entity.isAbstract ? "[\"\(Self.quotable(entity.name)) (abstract)\"]" : ""
    guard !attributes.isEmpty else { return text += "  \(Self.name(entity.name))\(title)\n" }
    text += "  \(Self.name(entity.name))\(title) {\n"
    for attribute in attributes {
      var notes: [String] = []
      if attribute.isOptional { notes.append("optional") }
      if attribute.description.isTransient {
        notes.append(attribute.description.derivation == nil ? "transient" : "derived")
      }
      if let details, details.indices.contains(entity.index), details[entity.index].indices.contains(attribute.index) {
        let detail = details[entity.index][attribute.index]
        if !detail.isEmpty { notes.append(Self.quotable(detail)) }
      }
      let key = entity.isUnique(attribute) ? " UK" : ""
      text += "    \(Self.type(attribute.type)) \(Self.attributeName(attribute.name))\(key)"
      text += notes.isEmpty ? "\n" : " \"\(notes.joined(separator: ", "))\"\n"
    }
    text += "  }\n"
  }

  /// A name as it stands before a brace. Words of the language and names with other characters are quoted.
  private static func name(_ name: String) -> String {
    let isPlain =
      !words.contains(name.lowercased()) && !name.isEmpty
      && name.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic && $0.isASCII || ("0"..."9").contains($0) || $0 == "_"
      }
    return isPlain ? name : "\"\(quotable(name))\""
  }

  /// The words that its lexer takes for something else, in any case.
  private static let words: Set<String> = [
    "accdescr", "acctitle", "class", "classdef", "direction", "end", "erdiagram", "many", "one", "only", "optionally",
    "style", "subgraph", "title", "to", "u", "zero",
  ]

  private static func quotable(_ name: String) -> String {
    String(
      String.UnicodeScalarView(
        name.unicodeScalars.map { $0 == "\"" || $0 == "%" || $0 == "\\" || $0.value < 0x20 ? "_" : $0 }))
  }

  /// A list is written behind its type, since a type begins with a letter.
  private static func type(_ type: AttributeType) -> String {
    if case .array(let element) = type { return "\(Self.type(element))[]" }
    return word(type.spelling)
  }

  /// The words of keys are no names, in any case.
  private static func attributeName(_ name: String) -> String {
    ["pk", "fk", "uk"].contains(name.lowercased()) ? "_" + name : word(name)
  }

  private static func word(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar in
      let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
      return isLetter || ("0"..."9").contains(scalar) || scalar == "_" || scalar.value >= 0xC0 && scalar.value <= 0xFFFF
        ? scalar : "_"
    }
    let word = String(String.UnicodeScalarView(scalars))
    return word.first.map { $0.isNumber } ?? true ? "_" + word : word
  }

  // MARK: Lines

  private mutating func addLines(of entity: Entity) {
    if let parent = entity.parent, shown.contains(parent) {
      addLine(model.entities[parent].name, "||..o|", entity.name, "parent")
    }
    for relationship in entity.ownRelationships where shown.contains(relationship.destination) {
      let destination = model.entities[relationship.destination].name
      guard let inverse = model.inverse(of: relationship) else {
        addLine(
          entity.name, "}o..\(Self.right(relationship))", destination,
          Self.label(relationship, "one way"))
        continue
      }
      guard (relationship.entity, relationship.index) <= (inverse.entity, inverse.index) else { continue }
      let label =
        relationship.isOwnInverse
        ? Self.label(relationship) : "\(Self.label(relationship)) / \(Self.label(inverse))"
      addLine(entity.name, "\(Self.left(inverse))--\(Self.right(relationship))", destination, label)
    }
  }

  private mutating func addLine(_ first: String, _ line: String, _ second: String, _ label: String) {
    text += "  \(Self.name(first)) \(line) \(Self.name(second)) : \"\(Self.quotable(label))\"\n"
  }

  private static func label(_ relationship: Relationship, _ note: String? = nil) -> String {
    let notes = [
      note, relationship.boundsText, relationship.isOrdered ? "ordered" : nil, relationship.deleteRule.mark,
    ].compactMap { $0 }
    return relationship.name + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
  }

  private static func left(_ relationship: Relationship) -> String {
    switch relationship.mark {
    case .many: "}o"
    case .someMany: "}|"
    case .optionalOne: "|o"
    default: "||"
    }
  }

  private static func right(_ relationship: Relationship) -> String {
    switch relationship.mark {
    case .many: "o{"
    case .someMany: "|{"
    case .optionalOne: "o|"
    default: "||"
    }
  }
}
