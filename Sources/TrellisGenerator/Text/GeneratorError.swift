/// The reason why no Swift code can be generated for a description.
public struct GeneratorError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
