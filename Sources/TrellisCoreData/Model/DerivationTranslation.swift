import TrellisModel

/// Turns the expression of a derived attribute of Core Data into one over the names of the translated model.
struct DerivationTranslation {
  private let entities: [TranslatedEntity]
  private let derivedNames: [DerivedSource]

  init(_ entities: [TranslatedEntity], _ derivedNames: [DerivedSource]) {
    self.entities = entities
    self.derivedNames = derivedNames
  }

  /// What to do instead of an expression that has no counterpart.
  static func advice(_ expression: String) -> String {
    if expression.contains("canonical:") {
      return "which has no counterpart; compare with [cd] in predicates, or sort by language"
    }
    if expression.contains("now()") { return "the time of the save; set it in the hook willSave" }
    return "which has no counterpart; compute it in a predicate or in Swift"
  }

  /// The expression with the names of the model. What is no property stays as it is.
  func text(_ expression: String, of entity: Int) -> String {
    var result = ""
    var rest = Substring(expression)
    var current: Int? = entity
    while let first = rest.first {
      guard first.isLetter || first == "_" || first == "@" || first == "'" || first == "\"" else {
        // Only a point continues a path.
        if first != "." { current = entity }
        result.append(first)
        rest.removeFirst()
        continue
      }
      if first == "'" || first == "\"" {
        let literal = rest.dropFirst().prefix { $0 != first }
        result += "\(first)\(literal)"
        rest = rest.dropFirst(literal.count + 1)
        if rest.first == first { result.append(rest.removeFirst()) }
        continue
      }
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "@" }
      rest = rest.dropFirst(word.count)
      guard rest.first != ":", rest.first != "(", first != "@", let from = current, let found = name(word, of: from)
      else {
        result += word
        continue
      }
      result += "#\(found.name)"
      current = found.destination
    }
    return result
  }

  /// The property of a name in Core Data, in an entity or its ancestors.
  private func name(_ word: Substring, of entity: Int) -> (name: String, destination: Int?)? {
    var next: Int? = entity
    while let number = next {
      let here = entities[number]
      if let found = here.attributes.first(where: { $0.path.count == 1 && $0.path[0] == word }) {
        return (found.description.name, nil)
      }
      if let found = here.relationships.first(where: { $0.source.name == word }) {
        return (found.description.name, found.destination)
      }
      if let found = derivedNames.first(where: { $0.entity == number && here.source.attributes[$0.place].name == word })
      {
        return (found.name.name, nil)
      }
      next = here.parent
    }
    return nil
  }
}
