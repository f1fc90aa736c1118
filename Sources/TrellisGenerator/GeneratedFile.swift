public import TrellisSchema

/// The Swift file of a model: classes, enums, and the description from which the runtime creates stores.
///
/// ```swift
/// let file = try GeneratedFile(description, modelFileName: "Diary.model.json")
/// print(file.name)   // Diary.trellis.swift
/// ```
public struct GeneratedFile: Hashable, Sendable {
  /// The file's name, which depends only on the model file's name.
  public let name: String
  public let text: String

  /// Generates the Swift code of a model.
  ///
  /// The code depends only on the arguments: the same model always gives the same code.
  ///
  /// - Parameters:
  ///   - description: The model, as declared in its file.
  ///   - modelFileName: The name of the model file without its folder, for the first line.
  ///   - foundationPredicates: Whether classes have a key path table, which `#Predicate` needs.
  /// - Throws: ``GeneratorError`` if the description is not a valid model or has names that Swift does not accept. The
  ///   checks on model files find these errors earlier, with their position in the file.
  /// - Complexity: linear in the length of the code.
  public init(
    _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool = false
  ) throws(GeneratorError) {
    name = Self.name(forModelFile: modelFileName)
    text = try generate(
      description, modelFileName: modelFileName, foundationPredicates: foundationPredicates)
  }

  /// `Diary.trellis.swift` for `Diary.model.json`.
  public static func name(forModelFile name: String) -> String {
    let ending = ".model.json"
    return (name.hasSuffix(ending) ? String(name.dropLast(ending.count)) : name) + ".trellis.swift"
  }
}

/// Generates the Swift code of a model. See ``GeneratedFile``.
public func generate(
  _ description: ModelDescription, modelFileName: String, foundationPredicates: Bool = false
) throws(GeneratorError) -> String {
  let plan = try ModelPlan(description, foundationPredicates: foundationPredicates)
  var writer = CodeWriter()
  HeaderEmitter.emit(plan, modelFileName: modelFileName, to: &writer)
  for enumeration in description.enums { EnumEmitter.emit(enumeration, to: &writer) }
  for entity in plan.entities { EntityEmitter.emit(entity, to: &writer) }
  return writer.text
}

/// The reason why no Swift code can be generated for a description.
public struct GeneratorError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
