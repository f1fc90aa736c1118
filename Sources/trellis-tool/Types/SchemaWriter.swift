import TrellisModel

/// Types of documents as JSON Schema (2020-12), alone or as components of OpenAPI 3.1.
struct SchemaWriter {
  private let references: String

  static func schema(_ types: DocumentTypes, root: String?) -> String {
    let writer = SchemaWriter(references: "#/$defs/")
    var members: [(key: String, value: SchemaNode)] = [
      ("$schema", .text("https://json-schema.org/draft/2020-12/schema")), ("title", .text(types.model.name)),
    ]
    if let root { members += [("type", .text("array")), ("items", writer.reference(root))] }
    members.append(("$defs", writer.definitions(types)))
    return SchemaNode.object(members).text + "\n"
  }

  static func openAPI(_ types: DocumentTypes) -> String {
    let writer = SchemaWriter(references: "#/components/schemas/")
    return SchemaNode.object([
      ("openapi", .text("3.1.0")),
      (
        "info",
        .object([("title", .text(types.model.name)), ("version", .text(types.model.description.version ?? "1"))])
      ),
      ("paths", .object([])), ("components", .object([("schemas", writer.definitions(types))])),
    ]).text + "\n"
  }

  private func reference(_ name: String) -> SchemaNode { .object([("$ref", .text(references + name))]) }

  private func definitions(_ types: DocumentTypes) -> SchemaNode {
    .object(types.types.map { ($0.name, definition($0)) })
  }

  private func definition(_ type: DocumentType) -> SchemaNode {
    let doc = type.doc.map { [(key: "description", value: SchemaNode.text($0))] } ?? []
    switch type.content {
    case .object(let members): return .object(doc + object(members))
    case .union(let names):
      return .object(doc + (names.isEmpty ? [("not", .object([]))] : [("anyOf", .list(names.map(reference)))]))
    case .choice(let choice):
      let kind = (key: "type", value: SchemaNode.text(choice.rawType == .string ? "string" : "integer"))
      if choice.unknown == .preserve { return .object(doc + [kind]) }
      let cases = choice.cases.map { entry -> SchemaNode in
        switch entry.rawValue {
        case .integer(let number): .number("\(number)")
        case .text(let text): .text(text)
        default: .number("null")
        }
      }
      return .object(doc + [kind, ("enum", .list(cases))])
    }
  }

  private func object(_ members: [DocumentShape.Member]) -> [(key: String, value: SchemaNode)] {
    let properties = members.map { member in
      (member.key, node(member.shape, member.doc.map { [("description", .text($0))] } ?? []))
    }
    let required = members.filter { !$0.isOptional }.map { SchemaNode.text($0.key) }
    return [("type", .text("object")), ("properties", .object(properties))]
      + (required.isEmpty ? [] : [("required", .list(required))]) + [("additionalProperties", .bool(false))]
  }

  private func node(_ shape: DocumentShape, _ doc: [(key: String, value: SchemaNode)] = []) -> SchemaNode {
    .object(doc + members(shape))
  }

  private func members(_ shape: DocumentShape) -> [(key: String, value: SchemaNode)] {
    switch shape {
    case .text(let format): return text(format)
    case .constant(let text): return [("const", .text(text))]
    case .integer(let range):
      return [
        ("type", .text("integer")), ("minimum", .number("\(range.lowerBound)")),
        ("maximum", .number("\(range.upperBound)")),
      ]
    // JSON has no number for infinity.
    case .number:
      let infinities = SchemaNode.object([("enum", .list([.text("Infinity"), .text("-Infinity")]))])
      return [("anyOf", .list([.object([("type", .text("number"))]), infinities]))]
    case .bool: return [("type", .text("boolean"))]
    case .any: return []
    case .choice(let name), .named(let name): return [("$ref", .text(references + name))]
    case .list(let element): return [("type", .text("array")), ("items", node(element))]
    case .dictionary(let value): return [("type", .text("object")), ("additionalProperties", node(value))]
    case .object(let members): return object(members)
    case .union(let shapes): return [("anyOf", .list(shapes.map { node($0) }))]
    case .nullable(let inner):
      let null = SchemaNode.object([("type", .text("null"))])
      if case .any = inner { return [] }
      let parts = members(inner)
      if parts.count == 1, parts[0].key == "anyOf", case .list(let choices) = parts[0].value {
        return [("anyOf", .list(choices + [null]))]
      }
      return [("anyOf", .list([.object(parts), null]))]
    }
  }

  private func text(_ format: DocumentShape.TextFormat) -> [(key: String, value: SchemaNode)] {
    let type = (key: "type", value: SchemaNode.text("string"))
    switch format {
    case .plain: return [type]
    case .dateTime: return [type, ("format", .text("date-time"))]
    case .uuid: return [type, ("format", .text("uuid"))]
    case .base64: return [type, ("contentEncoding", .text("base64"))]
    case .url: return [type, ("format", .text("uri-reference"))]
    case .decimal: return [type, ("pattern", .text("^-?[0-9]+(\\.[0-9]+)?$"))]
    }
  }
}

/// A value of a schema, which is written with indentation.
indirect enum SchemaNode {
  case text(String)
  /// A number, or null.
  case number(String)
  case bool(Bool)
  case list([SchemaNode])
  case object([(key: String, value: SchemaNode)])

  var text: String { text(indent: "") }

  private func text(indent: String) -> String {
    let inner = indent + "  "
    switch self {
    case .text(let text): return JSONText.quoted(text)
    case .number(let text): return text
    case .bool(let flag): return "\(flag)"
    case .list(let elements):
      let texts = elements.map { $0.text(indent: inner) }
      let line = "[\(texts.joined(separator: ", "))]"
      if line.count <= 100, !line.contains("\n") { return line }
      return "[\n" + texts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)]"
    case .object(let members):
      let texts = members.map { "\(JSONText.quoted($0.key)): \($0.value.text(indent: inner))" }
      let line = texts.isEmpty ? "{}" : "{ \(texts.joined(separator: ", ")) }"
      if line.count <= 100, !line.contains("\n") { return line }
      return "{\n" + texts.map { inner + $0 }.joined(separator: ",\n") + "\n\(indent)}"
    }
  }
}
