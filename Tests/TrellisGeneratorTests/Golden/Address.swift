public import Trellis

/// The struct that the model of types names.
public struct Address: CodableAttribute {
  public var street: String

  public static let placeholder = Address(street: "")
}
