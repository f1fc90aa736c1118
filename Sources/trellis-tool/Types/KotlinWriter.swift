import TrellisModel

/// Types of documents in Kotlin, for kotlinx.serialization.
struct KotlinWriter {
  /// The names in Kotlin of the types of the documents.
  private var names: [String: String] = [:]

  static func text(_ types: DocumentTypes) -> String {
    var writer = KotlinWriter()
    var scope = LanguageScope(reserving: reserved, .ofLetters)
    for type in types.types { writer.names[type.name] = scope.unused(type.name) }
    return """
      // Documents of the model \(types.model.name), as trellis export-json writes them.

      import kotlinx.serialization.SerialName
      import kotlinx.serialization.Serializable
      import kotlinx.serialization.json.JsonElement

      """ + types.types.map(writer.text).joined()
  }

  private func named(_ name: String) -> String { names[name] ?? name }

  private func text(_ type: DocumentType) -> String {
    let doc = Self.doc(type.doc, indent: "")
    let name = named(type.name)
    switch type.content {
    case .object(let members): return "\n" + doc + dataClass(name, members, within: [], indent: "")
    case .union: return "\n" + doc + "typealias \(name) = JsonElement\n"
    case .choice(let choice):
      guard choice.rawType == .string, choice.unknown != .preserve else {
        return "\n" + doc + "typealias \(name) = \(choice.rawType == .string ? "String" : "Long")\n"
      }
      var scope = LanguageScope(reserving: Self.reservedMembers, .ofCharacters)
      let cases = choice.cases.map { entry -> String in
        guard case .text(let raw) = entry.rawValue else { return "" }
        return Self.doc(entry.doc, indent: "  ")
          + "  @SerialName(\(Self.quoted(raw))) \(scope.name(entry.name, isType: true))"
      }
      return "\n" + doc + "@Serializable\nenum class \(name) {\n\(cases.joined(separator: ",\n"))\n}\n"
    }
  }

  /// - Parameter outer: The names of the classes around this one.
  private func dataClass(
    _ name: String, _ members: [DocumentShape.Member], within outer: Set<String>, indent: String
  ) -> String {
    // A data class needs a property.
    if members.isEmpty { return "\(indent)@Serializable\n\(indent)class \(name)\n" }
    // A nested class hides all others of its name in this one, so that none may have a name that is used here.
    let around = outer.union([name])
    var inner = Inner(
      scope: LanguageScope(
        reserving: Self.reserved.union(Self.reservedMembers).union(names.values).union(around), .ofLetters),
      outer: around)
    var properties = LanguageScope(reserving: Self.reservedMembers, .ofAccessors)
    var lines: [String] = []
    for member in members {
      let property = properties.name(member.key, isType: false)
      let type = spelling(member.shape, of: member.key, &inner, indent: indent + "  ")
      let isNil = member.isOptional && !type.hasSuffix("?")
      let annotation = property == member.key ? "" : "@SerialName(\(Self.quoted(member.key))) "
      let spelled = Self.words.contains(property) ? "`\(property)`" : property
      lines.append(
        Self.doc(member.doc, indent: indent + "  ")
          + "\(indent)  \(annotation)val \(spelled): \(type)\(isNil ? "?" : "")\(member.isOptional ? " = null" : "")")
    }
    let body = inner.classes.isEmpty ? "" : " {\n\(inner.classes.joined(separator: "\n"))\(indent)}"
    return
      "\(indent)@Serializable\n\(indent)data class \(name)(\n\(lines.joined(separator: ",\n"))\n\(indent))\(body)\n"
  }

  /// The classes nested in one.
  private struct Inner {
    var scope: LanguageScope
    let outer: Set<String>
    var classes: [String] = []
  }

  /// - Parameter key: The key of the value, by which a nested class is called.
  private func spelling(
    _ shape: DocumentShape, of key: String, _ inner: inout Inner, indent: String
  ) -> String {
    switch shape {
    case .text, .constant: return "String"
    case .integer(let range):
      return range.upperBound == Int64(Int16.max) ? "Short" : range.upperBound == Int64(Int32.max) ? "Int" : "Long"
    case .number: return "Double"
    case .bool: return "Boolean"
    case .any: return "JsonElement"
    case .choice(let name), .named(let name): return named(name)
    case .list(let element): return "List<\(spelling(element, of: key, &inner, indent: indent))>"
    case .dictionary(let value): return "Map<String, \(spelling(value, of: key, &inner, indent: indent))>"
    case .object(let members):
      let name = inner.scope.name(key, isType: true)
      inner.classes.append(dataClass(name, members, within: inner.outer, indent: indent))
      return name
    // Kotlin has no unions: what it is shows when it is read.
    case .union: return "JsonElement"
    case .nullable(let some):
      let type = spelling(some, of: key, &inner, indent: indent)
      return type.hasSuffix("?") ? type : type + "?"
    }
  }

  // MARK: Words

  /// Words that a property may be called in backticks alone.
  private static let words: Set<String> = [
    "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in", "interface", "is", "null",
    "object", "package", "return", "super", "this", "throw", "true", "try", "typealias", "typeof", "val", "var", "when",
    "while",
  ]

  /// Types that the text imports or names, and those of Kotlin that nearly every file uses.
  static let reserved: Set<String> = [
    "Annotation", "Any", "Array", "Boolean", "Byte", "Char", "CharSequence", "Collection", "Comparable", "Companion",
    "Double", "Enum", "Error", "Exception", "Float", "Function", "Int", "Iterable", "Iterator", "JsonElement", "Lazy",
    "List", "Long", "Map", "MutableCollection", "MutableList", "MutableMap", "MutableSet", "Nothing", "Number", "Pair",
    "Result", "Sequence", "SerialName", "Serializable", "Set", "Short", "String", "Throwable", "Triple", "UByte",
    "UInt", "ULong", "UShort", "Unit",
  ]

  /// What serialization adds to each class.
  private static let reservedMembers: Set<String> = ["Companion"]

  // MARK: Texts

  /// A comment, in which another one would begin at the same signs.
  private static func doc(_ doc: String?, indent: String) -> String {
    TypeScriptWriter.doc(doc?.replacing("*/", with: "* /").replacing("/*", with: "/ *"), indent: indent)
  }

  /// A text in quotes, in which a dollar sign begins nothing. Kotlin has no `\f`.
  private static func quoted(_ text: String) -> String {
    var quoted = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\", "$": quoted += "\\" + String(scalar)
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return "\"\(quoted)\""
  }
}
