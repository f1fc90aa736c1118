import TrellisSchema

/// The property of each key path of a class. Classes of models with `foundationPredicates` have such a table.
///
/// The table and its key paths are immutable, so the table can be read from any thread. Therefore `@unchecked` is
/// sound.
@_spi(Generated) public struct KeyPathTable: @unchecked Sendable {
  /// The number that stands for the object's identifier instead of a property.
  public static let identity = -1

  private let numbers: [AnyKeyPath: Int]

  /// Creates a table of property numbers by key path.
  public init(_ numbers: [AnyKeyPath: Int]) { self.numbers = numbers }

  /// The property's number, ``identity``, or nil if the key path does not belong to the model.
  public func number(of keyPath: AnyKeyPath) -> Int? { numbers[keyPath] }

  /// Whether the table has no key paths.
  public var isEmpty: Bool { numbers.isEmpty }
}
