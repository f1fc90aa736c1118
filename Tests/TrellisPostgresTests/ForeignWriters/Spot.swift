public import Trellis

/// A struct of the market's model.
public struct Spot: CodableAttribute {
  public var street: String
  public static let placeholder = Spot(street: "")

  public init(street: String) { self.street = street }
}
