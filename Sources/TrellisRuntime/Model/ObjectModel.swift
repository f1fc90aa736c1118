public import TrellisSchema

/// A model with its generated classes. The generated code declares one:
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .memory)
/// ```
public struct ObjectModel: Sendable {
  /// The model as declared in its file.
  public let description: ModelDescription
  /// The class of each entity, in the model's order.
  let types: [ManagedObject.Type]
  /// The checksum of the description, computed when the code was generated.
  package let checksum: String

  /// Creates a model; called by generated code.
  ///
  /// - Parameters:
  ///   - objects: The classes, in the order of the description's entities.
  ///   - checksum: The checksum of the description, so that it need not be computed when a store is opened.
  ///   - generatedCode: The form of the generated code. A version that this runtime does not support fails to compile.
  @_spi(Generated) public init(
    _ description: ModelDescription, objects: [ManagedObject.Type], checksum: String,
    generatedCode: GeneratedCodeVersion
  ) {
    self.checksum = checksum
    self.description = description
    types = objects
    KnownModels.note(objects, of: description)
  }
}

/// The forms of generated code that this runtime supports.
@_spi(Generated) public enum GeneratedCodeVersion: Sendable {
  case version1
}
