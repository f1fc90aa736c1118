import TrellisSchema

/// Checks that each rule applies to the attribute's type, and that some value can satisfy all rules. Sets minimum and
/// maximum values.
enum AttributeRulesCheck {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let reader = StoredValueReader(draft.enums)
    for entity in draft.entities.indices {
      for index in draft.entities[entity].attributes.indices where draft.entities[entity].attributes[index].hasType {
        var pass = Pass(
          attribute: draft.entities[entity].attributes[index], entity: draft.entities[entity].name.value,
          reader: reader, findings: findings)
        guard !pass.attribute.object.members.isEmpty else { continue }
        pass.check()
        draft.entities[entity].attributes[index] = pass.attribute
      }
    }
  }

  /// The check of one attribute.
  private struct Pass {
    var attribute: AttributeDraft
    let entity: String
    let reader: StoredValueReader
    let findings: Findings

    private var type: AttributeType { attribute.description.type }
    private var path: String { "\(entity).\(attribute.name.value)" }

    mutating func check() {
      checkApplicability("min", type.hasOrder, type.hasLength ? "a length has \"minLength\"" : nil)
      checkApplicability("max", type.hasOrder, type.hasLength ? "a length has \"maxLength\"" : nil)
      checkApplicability("minLength", type.hasLength, type.hasOrder ? "a least value is \"min\"" : nil)
      checkApplicability("maxLength", type.hasLength, type.hasOrder ? "a greatest value is \"max\"" : nil)
      checkApplicability("pattern", type == .string, nil)
      if type.hasOrder {
        attribute.description.rules.minimum = readBound("min")
        attribute.description.rules.maximum = readBound("max")
      }
      checkRanges()
      checkOptions()
      if let pattern = attribute.description.rules.pattern, type == .string {
        Patterns.check(pattern, of: path, at: attribute.place(of: "pattern"), findings)
      }
    }

    private func checkApplicability(_ key: String, _ applies: Bool, _ remedy: String?) {
      guard !applies, attribute.object[key] != nil else { return }
      let things: String =
        switch key {
        case "min", "max": "numbers and dates"
        case "pattern": "strings"
        default: "strings, data and lists"
        }
      findings.error(
        .ruleMismatch, at: attribute.object[key]?.keyOffset ?? attribute.name.offset,
        "Attribute '\(path)' is of type '\(type.spelling)', but '\(key)' is for \(things); \(remedy ?? "take it out").")
    }

    private func readBound(_ key: String) -> StoredValue? {
      guard let node = attribute.object[key]?.value else { return nil }
      do throws(StoredValueReader.Misfit) {
        return try reader.read(node, as: type)
      } catch {
        findings.error(
          .wrongType, at: node.offset,
          "The value of '\(key)' of attribute '\(path)' of type '\(type.spelling)' must be \(error.expected).")
        return nil
      }
    }

    private func checkRanges() {
      let rules = attribute.description.rules
      if let minimum = rules.minimum, let maximum = rules.maximum, maximum.isLess(than: minimum) {
        report("min", "max", "the least value is above the greatest")
      }
      if let minimum = rules.minimumLength, let maximum = rules.maximumLength, maximum < minimum {
        report("minLength", "maxLength", "the least length \(minimum) is above the greatest, \(maximum)")
      }
    }

    private func report(_ least: String, _ greatest: String, _ fault: String) {
      findings.error(
        .emptyRange, at: attribute.place(of: least),
        "No value of attribute '\(path)' can obey both '\(least)' and '\(greatest)': \(fault).",
        notes: [("'\(greatest)' is here", attribute.place(of: greatest))])
    }

    private func checkOptions() {
      let description = attribute.description
      checkOption("externalStorage", description.isExternal, for: .data)
      checkOption("searchable", description.isSearchable, for: .string)
    }

    private func checkOption(_ key: String, _ isSet: Bool, for only: AttributeType) {
      guard isSet else { return }
      if type != only {
        findings.error(
          .optionMismatch, at: attribute.place(of: key),
          "Attribute '\(path)' is of type '\(type.spelling)', but '\(key)' is for '\(only.spelling)' alone; take it out."
        )
      } else if attribute.description.isTransient {
        findings.error(
          .optionMismatch, at: attribute.place(of: key),
          "Attribute '\(path)' is transient and lies in no store, so '\(key)' has no meaning; take out one of the two.")
      }
    }
  }
}

extension AttributeType {
  /// Whether values of the type have a minimum and a maximum.
  var hasOrder: Bool {
    switch self {
    case .int16, .int32, .int64, .float, .double, .decimal, .date: true
    default: false
    }
  }

  /// Whether values of the type have a length.
  var hasLength: Bool {
    switch self {
    case .string, .data, .array: true
    default: false
    }
  }
}

extension StoredValue {
  /// Compares numbers, dates, and canonical decimal texts.
  func isLess(than other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): DecimalText.isLess(left, right)
    default: false
    }
  }
}
