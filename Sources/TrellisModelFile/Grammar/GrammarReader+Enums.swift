import TrellisSchema

/// The words for an enum's raw type in a model file.
private enum RawTypeWord: String, CaseIterable {
  case string, int
}

extension GrammarReader {
  func readEnums(_ model: KeyedObject) -> [EnumDraft] {
    guard let object = model.nested("enums"), let offset = model.object["enums"]?.keyOffset,
      isWithin(Limits.enums, object.members.count, "enums", at: offset)
    else { return [] }
    return namedObjects(model, "enums", "enum").map { readEnum($0, $1, $2) }
  }

  private func readEnum(_ name: Located<String>, _ node: JSONNode, _ object: JSONObject) -> EnumDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "enum \(name.value.quoted)", keys: ["type", "cases", "unknown", "doc"],
      required: ["type", "cases"], findings)
    var draft = EnumDraft(name: name)
    draft.doc = keyed.text("doc")?.value
    draft.rawType = keyed.word("type", RawTypeWord.self) == .int ? .integer : .string
    draft.unknownOffset = object["unknown"]?.value.offset ?? name.offset
    draft.unknown = readPolicy(keyed)
    if let cases = object["cases"]?.value { draft.cases = readCases(cases, keyed, draft.rawType) }
    return draft
  }

  private func readPolicy(_ keyed: KeyedObject) -> EnumDescription.UnknownPolicy {
    guard let node = keyed.object["unknown"]?.value else { return .reject }
    if let object = node.object {
      let policy = KeyedObject(
        object, at: node.offset, owner: "'unknown' of \(keyed.owner)", keys: ["default"], required: ["default"],
        findings)
      return policy.text("default").map { .useDefault($0.value) } ?? .reject
    }
    guard let word = node.string else {
      keyed.wrongType("unknown", node, "\"preserve\", \"reject\" or {\"default\": \"case\"}")
      return .reject
    }
    if word != "preserve", word != "reject" {
      keyed.reportUnknownWord("unknown", Located(word, at: node.offset), ["preserve", "reject"])
    }
    return word == "preserve" ? .preserve : .reject
  }

  // MARK: Cases

  private func readCases(_ node: JSONNode, _ keyed: KeyedObject, _ type: EnumDescription.RawType) -> [CaseDraft] {
    var cases = CaseList(type: type, keyed: keyed)
    switch node.content {
    case .array(let elements):
      guard isWithin(Limits.enumCases, elements.count, "cases", at: node.offset) else { return [] }
      for element in elements { cases.append(element) }
    case .object(let object):
      guard isWithin(Limits.enumCases, object.members.count, "cases", at: node.offset) else { return [] }
      for member in object.members {
        cases.append(Located(member.key, at: member.keyOffset), member.value, doc: nil)
      }
    default:
      keyed.wrongType("cases", node, "a list of names, or an object with a raw value for each name")
    }
    return cases.cases
  }
}

/// The cases read so far, and the integer for the next case without a value.
private struct CaseList {
  let type: EnumDescription.RawType
  let keyed: KeyedObject
  var cases: [CaseDraft] = []
  private var next: Int64? = 0

  init(type: EnumDescription.RawType, keyed: KeyedObject) {
    self.type = type
    self.keyed = keyed
  }

  mutating func append(_ element: JSONNode) {
    if let name = element.string { return append(Located(name, at: element.offset), nil, doc: nil) }
    guard let object = element.object else {
      return keyed.wrongType("cases", element, "a list of names or of objects with 'name' and 'value'")
    }
    let entry = KeyedObject(
      object, at: element.offset, owner: "a case of \(keyed.owner)", keys: ["name", "value", "doc"], required: ["name"],
      keyed.findings)
    guard let name = entry.text("name") else { return }
    append(name, object["value"]?.value, doc: entry.text("doc")?.value)
  }

  mutating func append(_ name: Located<String>, _ value: JSONNode?, doc: String?) {
    guard let raw = rawValue(name, value) else { return }
    cases.append(CaseDraft(name: name, rawValue: Located(raw, at: value?.offset ?? name.offset), doc: doc))
  }

  private mutating func rawValue(_ name: Located<String>, _ value: JSONNode?) -> StoredValue? {
    switch (type, value) {
    case (.string, nil): return .text(name.value)
    case (.string, let value?):
      if value.string == nil { report(name, value, "a string, because the enum's type is \"string\"") }
      return value.string.map { .text($0) }
    case (.integer, nil):
      guard let number = next else {
        keyed.findings.error(
          .badCount, at: name.offset,
          "Case \(name.value.quoted) of \(keyed.owner) would get a value beyond 64 bits; give it one.")
        return nil
      }
      return integer(number)
    case (.integer, let value?):
      guard let number = value.integer else {
        report(name, value, "a whole number of 64 bits, because the enum's type is \"int\"")
        return nil
      }
      return integer(number)
    }
  }

  private mutating func integer(_ number: Int64) -> StoredValue {
    next = number == .max ? nil : number + 1
    return .integer(number)
  }

  private func report(_ name: Located<String>, _ value: JSONNode, _ expected: String) {
    keyed.findings.error(
      .wrongType, at: value.offset,
      "The raw value of case \(name.value.quoted) of \(keyed.owner) must be \(expected); here is \(value.kind).")
  }
}
