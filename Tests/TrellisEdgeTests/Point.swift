public import Trellis

/// A struct of the tests' own, kept as JSON.
public struct Point: CodableAttribute {
  public var x: Double
  public var y: Double
  public static let placeholder = Point(x: 0, y: 0)

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}
