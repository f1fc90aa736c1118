/// A path from an object through its properties, by their numbers in the model.
///
/// All steps but the last are to-one relationships. A path without steps is the object itself.
public struct PropertyPath: Hashable, Sendable {
  /// The object that the path starts from: 0 is the fetched object, others are bound by ``QueryPredicate/quantified``.
  public let variable: Int32
  /// The first step, stored apart so that the common path of one step needs no array.
  private let first: Int32
  private let rest: [Int32]

  /// The object itself.
  public init(variable: Int) {
    self.variable = Int32(truncatingIfNeeded: variable)
    first = -1
    rest = []
  }

  private init(variable: Int32, first: Int32, rest: [Int32]) {
    self.variable = variable
    self.first = first
    self.rest = rest
  }

  /// The path extended by one step.
  @inline(__always) public func appending(_ property: Int) -> PropertyPath {
    let step = Int32(truncatingIfNeeded: property)
    return first < 0
      ? PropertyPath(variable: variable, first: step, rest: rest)
      : PropertyPath(variable: variable, first: first, rest: rest + [step])
  }

  /// The number of steps.
  public var count: Int { first < 0 ? 0 : rest.count + 1 }

  /// The properties along the path, in order.
  public var steps: [Int] {
    first < 0 ? [] : [Int(first)] + rest.map(Int.init)
  }

  /// The only step; nil unless there is exactly one.
  public var onlyStep: Int? { first >= 0 && rest.isEmpty ? Int(first) : nil }
}
