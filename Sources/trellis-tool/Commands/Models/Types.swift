import TrellisJSON
import TrellisModel

/// `trellis types`: the types of a model's JSON documents in other languages.
enum Types {
  private static let languages = ["typescript", "kotlin", "json-schema", "openapi"]

  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    guard let language = arguments.value(of: "language"), languages.contains(language) else {
      let given = arguments.value(of: "language").map { "\($0.inMessage) is none of" } ?? "--language is needed: one of"
      throw .usage("\(given) \(languages.joined(separator: ", ")).", of: .types)
    }
    let model = try ModelInput.modelOfAny(arguments.operands[0])
    let types: DocumentTypes
    do throws(JSONMappingFault) { types = try DocumentTypes(model) } catch {
      throw ToolFailure(.failure, "error: \(error.message)")
    }
    guard !types.types.isEmpty else {
      throw ToolFailure(
        .failure, "error: no entity of '\(model.name)' has a mapping to JSON; add \"json\" to it in the model.")
    }
    let root = try root(arguments, model, types, language)
    let text =
      switch language {
      case "typescript": TypeScriptWriter.text(types)
      case "kotlin": KotlinWriter.text(types)
      case "openapi": SchemaWriter.openAPI(types)
      default: SchemaWriter.schema(types, root: root)
      }
    guard let output = arguments.value(of: "output") else {
      Console.print(text)
      return .success
    }
    try OutputFile.replace(output, with: Array(text.utf8))
    return .success
  }

  private static func root(
    _ arguments: ParsedArguments, _ model: Model, _ types: DocumentTypes, _ language: String
  ) throws(ToolFailure) -> String? {
    guard let name = arguments.value(of: "entity") else { return nil }
    guard language == "json-schema" else { throw .usage("--entity is for json-schema only.", of: .types) }
    let entity = try model.entity(named: name, for: .types)
    if let found = types.name(of: entity) { return found }
    throw ToolFailure(.failure, "error: '\(name)' has no mapping to JSON objects; add \"json\" to it in the model.")
  }
}

// MARK: - Command

extension Types {
  static let command = Command(
    operands: "MODEL|STORE", needed: "a MODEL or a STORE", count: 1...1,
    options: [
      .init(name: "language", value: "NAME", summary: "typescript, kotlin, json-schema or openapi"),
      .init(name: "entity", value: "NAME", summary: "let the schema be that of a list of such objects"),
      .init(name: "output", value: "FILE", summary: "write to a file, instead of the output"),
    ], summary: "write the types of the JSON documents for other languages",
    details: """
      The types are those of what export-json writes, by the model's "json": interfaces of TypeScript, data classes of Kotlin
      for kotlinx.serialization, JSON Schema 2020-12, or components of OpenAPI 3.1. The same model gives the same text. Exit 0
      if it is written, 1 if the model has errors or no mapping, 66 if a file cannot be read, 74 if one cannot be written.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
