public import Trellis

/// A struct of the user's own, kept as JSON.
public struct Address: CodableAttribute {
  public var street: String
  public var city: String

  public init(street: String, city: String) {
    self.street = street
    self.city = city
  }

  public static let placeholder = Address(street: "", city: "")
}
