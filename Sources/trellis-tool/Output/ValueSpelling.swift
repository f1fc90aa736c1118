import TrellisModel

/// How a model file spells values: constants, defaults and bounds.
struct ValueSpelling {
  let model: Model

  func text(_ value: DefaultValue, _ type: AttributeType) -> String {
    switch (value, type) {
    case (.now, _): "now"
    case (.new, _): "new"
    case (.value(let value), _): text(value, type)
    case (.list(let values), .array(let element)): "[\(values.map { text($0, element) }.joined(separator: ", "))]"
    case (.list(let values), _): "[\(values.map { text($0, type) }.joined(separator: ", "))]"
    }
  }

  /// - Parameter value: a value in its stored form.
  func text(_ value: StoredValue, _ type: AttributeType) -> String {
    switch (type, value) {
    case (.bool, .integer(let flag)): return flag == 0 ? "false" : "true"
    case (.date, .integer(let microseconds)): return DateText.text(microseconds)
    case (.uuid, .blob(let bytes)): return UUIDText.text(bytes)
    case (.float, .real(let number)): return String(describing: Float(number))
    case (.enumeration(let name), _):
      let cases = model.enumeration(named: name)?.cases ?? []
      if let enumCase = cases.first(where: { $0.rawValue == value }) { return enumCase.name }
    default: break
    }
    switch value {
    case .null, .file: return "null"
    case .integer(let number): return String(number)
    case .real(let number): return String(describing: number)
    case .text(let text): return type == .decimal ? text : "\"\(text)\""
    case .blob(let bytes): return Base64Text.text(bytes)
    }
  }
}

extension FetchRequestDescription.Sort {
  var spelling: String { (isDescending ? "-" : "") + path }
}

extension Index {
  /// The properties as a model file has them: `-` for descending.
  func spelling(in entity: Entity) -> [String] {
    elements.map { ($0.isDescending ? "-" : "") + entity.properties[$0.property].name }
  }
}

extension EnumDescription.UnknownPolicy {
  /// The policy as a model file has it.
  var spelling: String {
    switch self {
    case .reject: "reject"
    case .preserve: "preserve"
    case .useDefault(let name): "default \(name)"
    }
  }
}
