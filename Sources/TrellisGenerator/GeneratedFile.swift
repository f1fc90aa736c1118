public import TrellisSchema

/// The Swift file of a model: classes, enums, and the description that the runtime makes stores from.
///
/// ```swift
/// let file = try GeneratedFile(description, modelFileName: "Diary.model.json")
/// print(file.name)   // Diary.trellis.swift
/// ```
public struct GeneratedFile: Hashable, Sendable {
  /// The file's name, which depends on the model file's name alone.
  public let name: String
  public let text: String

  /// Writes the Swift text of a model.
  ///
  /// The text depends on nothing but the arguments: the same model gives the same text, everywhere and always.
  ///
  /// - Parameters:
  ///   - description: The model, as its file declares it.
  ///   - modelFileName: The file's name without its folder, for the first line.
  ///   - foundationPredicates: Whether each class tells which property a key path leads to, as `#Predicate` needs it.
  /// - Throws: ``GeneratorError`` when the description is no model or has names that Swift cannot take. The checks on model
  ///   files find all of that earlier, with a place in the file.
  /// - Complexity: linear in the size of the text.
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

/// Writes the Swift text of a model. See ``GeneratedFile``.
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

/// Why there is no Swift for a description.
public struct GeneratorError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
