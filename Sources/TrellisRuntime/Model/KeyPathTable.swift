import TrellisSchema

/// Which property each key path of a class leads to. Classes of models with `foundationPredicates` have one.
///
/// Key paths are immutable and so is the table, so it may be read from everywhere: that is why `@unchecked` is sound.
@_spi(Generated) public struct KeyPathTable: @unchecked Sendable {
  /// What stands for the object's identity in place of a property's number.
  public static let identity = -1

  private let numbers: [AnyKeyPath: Int]

  public init(_ numbers: [AnyKeyPath: Int]) { self.numbers = numbers }

  /// The property's number, ``identity``, or nil for a key path that is none of the model's.
  public func number(of keyPath: AnyKeyPath) -> Int? { numbers[keyPath] }

  /// Whether the model has no key paths at all.
  public var isEmpty: Bool { numbers.isEmpty }
}
