import TrellisModel

/// Types of documents in TypeScript.
struct TypeScriptWriter {
  private var text = ""
  /// The names in TypeScript of the types of the documents.
  private var names: [String: String] = [:]

  static func text(_ types: DocumentTypes) -> String {
    var writer = TypeScriptWriter()
    var scope = LanguageScope(reserving: reserved, .ofCharacters)
    for type in types.types { writer.names[type.name] = scope.unused(type.name) }
    writer.text = "// Documents of the model \(types.model.name), as trellis export-json writes them.\n"
    for type in types.types { writer.write(type) }
    return writer.text
  }

  private func named(_ name: String) -> String { names[name] ?? name }

  private mutating func write(_ type: DocumentType) {
    text += "\n"
    writeDoc(type.doc, indent: "")
    let name = named(type.name)
    switch type.content {
    case .object(let members): text += "export interface \(name) \(object(members, indent: ""))\n"
    case .union(let members):
      text += "export type \(name) = \(members.isEmpty ? "never" : members.map(named).joined(separator: " | "));\n"
    case .choice(let choice):
      var cases = choice.cases.map { Self.literal($0.rawValue) }
      if choice.unknown == .preserve { cases.append(choice.rawType == .string ? "(string & {})" : "(number & {})") }
      text += "export type \(name) = \(cases.joined(separator: " | "));\n"
    }
  }

  private mutating func writeDoc(_ doc: String?, indent: String) { text += Self.doc(doc, indent: indent) }

  static func doc(_ doc: String?, indent: String) -> String {
    guard let doc, !doc.isEmpty else { return "" }
    // The end of a comment in the text would end the comment.
    let lines = doc.replacing("*/", with: "* /").split(separator: "\n", omittingEmptySubsequences: false)
    if lines.count == 1 { return "\(indent)/** \(lines[0]) */\n" }
    return "\(indent)/**\n" + lines.map { "\(indent) * \($0)\n" }.joined() + "\(indent) */\n"
  }

  private static func literal(_ value: StoredValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .text(let text): JSONText.quoted(text)
    default: "never"
    }
  }

  private func object(_ members: [DocumentShape.Member], indent: String) -> String {
    if members.isEmpty { return "{}" }
    let inner = indent + "  "
    return "{\n"
      + members.map { member in
        Self.doc(member.doc, indent: inner) + "\(inner)\(Self.key(member.key))\(member.isOptional ? "?" : ""): "
          + spelling(member.shape, indent: inner) + ";\n"
      }.joined() + indent + "}"
  }

  private static func key(_ key: String) -> String {
    let letters = key.unicodeScalars
    let isName =
      letters.first.map { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_") } == true
      && letters.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0)) }
    return isName ? key : JSONText.quoted(key)
  }

  private func spelling(_ shape: DocumentShape, indent: String) -> String {
    switch shape {
    case .text: "string"
    case .constant(let text): JSONText.quoted(text)
    case .integer, .number: "number"
    case .bool: "boolean"
    case .any: "unknown"
    case .choice(let name), .named(let name): named(name)
    case .list(let element): "Array<\(spelling(element, indent: indent))>"
    case .dictionary(let value): "Record<string, \(spelling(value, indent: indent))>"
    case .object(let members): object(members, indent: indent)
    case .union(let shapes): shapes.map { spelling($0, indent: indent) }.uniqued.joined(separator: " | ")
    case .nullable(let inner): "\(spelling(inner, indent: indent)) | null"
    }
  }
}

extension TypeScriptWriter {
  /// Types that the text names, and those of the language that nearly every file uses.
  static let reserved: Set<String> = [
    "Array", "Awaited", "BigInt", "Boolean", "Date", "Error", "Exclude", "Extract", "Function", "JSON", "Map", "Math",
    "NonNullable", "Number", "Object", "Omit", "Parameters", "Partial", "Pick", "Promise", "Proxy", "Readonly",
    "ReadonlyArray", "Record", "Reflect", "RegExp", "Required", "ReturnType", "Set", "String", "Symbol", "WeakMap",
    "WeakSet",
  ]
}

extension [String] {
  /// The texts without those that came before.
  var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
