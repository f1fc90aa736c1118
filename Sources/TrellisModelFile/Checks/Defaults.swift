import TrellisSchema

/// Checks that each default matches its attribute's type and satisfies its rules. Sets defaults in their stored form.
enum Defaults {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let reader = StoredValueReader(draft.enums)
    for entity in draft.entities.indices {
      for index in draft.entities[entity].attributes.indices {
        let attribute = draft.entities[entity].attributes[index]
        guard attribute.hasType, let node = attribute.object["default"]?.value else { continue }
        let pass = Pass(
          attribute: attribute, path: draft.path(entity, attribute.name.value), reader: reader, findings: findings)
        draft.entities[entity].attributes[index].description.defaultValue = pass.read(node)
      }
    }
  }

  /// The check of one attribute's default.
  private struct Pass {
    let attribute: AttributeDraft
    let path: String
    let reader: StoredValueReader
    let findings: Findings

    private var type: AttributeType { attribute.description.type }
    private var rules: AttributeRules { attribute.description.rules }

    func read(_ node: JSONNode) -> DefaultValue? {
      if let moment = special(node) { return moment }
      if case .null = node.content {
        let remedy =
          attribute.description.isOptional ? "optional attributes are nil anyway" : "add \"optional\": true instead"
        report(node.offset, "The default of attribute '\(path)' must not be null; take it out: \(remedy).")
        return nil
      }
      do throws(StoredValueReader.Misfit) {
        return try value(node)
      } catch {
        report(
          node.offset,
          "The default of attribute '\(path)' of type '\(type.spelling)' must be \(error.expected)"
            + suggestion(for: node).orFullStop)
        return nil
      }
    }

    /// Handles `now` for dates and `new` for UUIDs. For other types except text, the error says which type each word is
    /// for.
    private func special(_ node: JSONNode) -> DefaultValue? {
      switch (node.string, type) {
      case ("now", .date): .now
      case ("new", .uuid): .new
      default: nil
      }
    }

    private func value(_ node: JSONNode) throws(StoredValueReader.Misfit) -> DefaultValue {
      guard case .array(let element) = type else {
        let value = try reader.read(node, as: type)
        checkRules(value, at: node.offset)
        return .value(value)
      }
      guard let nodes = node.array else { throw StoredValueReader.Misfit(expected: "a list") }
      var values: [StoredValue] = []
      for node in nodes { values.append(try read(node, element)) }
      checkLength(values.count, "elements", at: node.offset)
      return .list(values)
    }

    private func read(_ node: JSONNode, _ element: AttributeType) throws(StoredValueReader.Misfit) -> StoredValue {
      do throws(StoredValueReader.Misfit) {
        return try reader.read(node, as: element)
      } catch {
        throw StoredValueReader.Misfit(expected: "a list of which each element is \(error.expected)")
      }
    }

    private func suggestion(for node: JSONNode) -> String {
      switch (node.string, type) {
      case ("now", _): return "; \"now\" is for 'date' alone."
      case ("new", _): return "; \"new\" is for 'uuid' alone."
      case (let name?, .enumeration(let enumeration)):
        let cases = reader.caseNames[enumeration, default: []]
        return findings.suggestions.clause(for: name, among: cases)
      default: return ""
      }
    }

    private func report(_ offset: Int, _ message: String) {
      findings.error(.defaultMismatch, at: offset, message)
    }

    // MARK: Rules

    private func checkRules(_ value: StoredValue, at offset: Int) {
      if let minimum = rules.minimum, value.isLess(than: minimum) { reportBreak("min", "is below it", at: offset) }
      if let maximum = rules.maximum, maximum.isLess(than: value) { reportBreak("max", "is above it", at: offset) }
      switch value {
      case .text(let text) where type == .string:
        checkLength(text.unicodeScalars.count, "characters", at: offset)
        if let pattern = rules.pattern, Patterns.matches(text, pattern) == false {
          reportBreak("pattern", "does not match it", at: offset)
        }
      case .blob(let bytes) where type == .data: checkLength(bytes.count, "bytes", at: offset)
      default: break
      }
    }

    private func checkLength(_ length: Int, _ things: String, at offset: Int) {
      if let minimum = rules.minimumLength, length < minimum {
        reportBreak("minLength", "has \(length) \(things)", at: offset)
      }
      if let maximum = rules.maximumLength, length > maximum {
        reportBreak("maxLength", "has \(length) \(things)", at: offset)
      }
    }

    private func reportBreak(_ rule: String, _ fact: String, at offset: Int) {
      findings.error(
        .defaultBreaksRule, at: offset,
        "The default of attribute '\(path)' breaks its own rule '\(rule)': it \(fact); change one of the two.",
        notes: [("'\(rule)' is here", attribute.place(of: rule))])
    }
  }
}
