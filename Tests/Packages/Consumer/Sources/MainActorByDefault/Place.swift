public import Trellis

/// A type of an attribute belongs to no actor, whatever the module's default is.
public nonisolated struct Place: CodableAttribute {
  public var city: String

  public init(city: String) { self.city = city }

  public static let placeholder = Place(city: "")
}
