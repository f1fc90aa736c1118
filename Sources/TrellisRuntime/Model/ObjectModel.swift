public import TrellisSchema

/// A model together with the classes that were generated for it. The generated code makes one:
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .memory)
/// ```
public struct ObjectModel: Sendable {
  /// The model as its file declares it.
  public let description: ModelDescription
  /// The class of each entity, in the model's order.
  let types: [ManagedObject.Type]
  /// The description's, made when the code was.
  package let checksum: String

  /// What generated code calls.
  ///
  /// - Parameters:
  ///   - objects: The classes, in the order of the description's entities.
  ///   - checksum: What tells the description from any other, so that opening a store need not find it out.
  ///   - generatedCode: The form of the generated code. A version that this runtime does not know fails to compile.
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

/// The forms of generated code that this runtime understands.
@_spi(Generated) public enum GeneratedCodeVersion: Sendable {
  case version1
}
