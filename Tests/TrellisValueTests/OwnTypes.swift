public import Foundation
public import Trellis

/// A number of a book, of which only valid ones are accepted.
public struct ISBN: ScalarAttribute, RawRepresentable {
  public let rawValue: String
  public static let placeholder = ISBN(unchecked: "")

  public init?(rawValue: String) {
    guard rawValue.count == 13, rawValue.allSatisfy(\.isNumber) else { return nil }
    self.rawValue = rawValue
  }

  private init(unchecked: String) { rawValue = unchecked }
}

/// An identifier of its own type.
public struct TillID: ScalarAttribute, RawRepresentable {
  public let rawValue: UUID
  public static let placeholder = TillID(rawValue: UUID())

  public init(rawValue: UUID) { self.rawValue = rawValue }
}

/// The start of a day, by two functions instead of a raw value.
public struct Day: ScalarAttribute {
  public let start: Date
  public static let placeholder = Day(stored: Date(timeIntervalSince1970: 0))

  public init(stored: Date) { start = stored }
  public var stored: Date { start }
}

/// A measurement.
public struct Grams: ScalarAttribute, OrderedAttributeValue {
  public var value: Double
  public static let placeholder = Grams(stored: 0)

  public init(stored: Double) { value = stored }
  public var stored: Double { value }
}
