public import Foundation
public import TrellisQuery
import TrellisSchema

/// A value that can be bound to a placeholder in a predicate format: numbers, texts, dates, enums, objects and their
/// ids, nil, and lists and ranges of those.
///
/// A bound value is never parsed as part of the format.
public protocol PredicateArgument {
  /// The value in the form that the format checker uses.
  var formatArgument: FormatArgument { get }
}

extension AttributeValue {
  public var formatArgument: FormatArgument { .value(storedValue, FormatType(Self.valueKind)) }
}

extension Bool { public var formatArgument: FormatArgument { .value(storedValue, .bool) } }
extension Date { public var formatArgument: FormatArgument { .value(storedValue, .date) } }
extension UUID { public var formatArgument: FormatArgument { .value(storedValue, .uuid) } }
extension URL { public var formatArgument: FormatArgument { .value(storedValue, .url) } }
extension ModelEnum { public var formatArgument: FormatArgument { .value(storedValue, .enumeration(nil)) } }
extension CodableAttribute { public var formatArgument: FormatArgument { .value(storedValue, .json("\(Self.self)")) } }

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  public var formatArgument: FormatArgument { self?.formatArgument ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Substring: PredicateArgument {
  public var formatArgument: FormatArgument { String(self).formatArgument }
}

extension PredicateArgument where Self: BinaryInteger {
  /// An integer beyond 64 bits becomes a decimal.
  public var formatArgument: FormatArgument {
    Int64(exactly: self).map { .value(.integer($0), .integer) } ?? .value(.text("\(self)"), .decimal)
  }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  public var formatArgument: FormatArgument {
    .range(lowerBound.formatArgument, upperBound.formatArgument, isClosed: true)
  }
}

extension Range: PredicateArgument where Bound: PredicateArgument {
  public var formatArgument: FormatArgument {
    .range(lowerBound.formatArgument, upperBound.formatArgument, isClosed: false)
  }
}

extension FormatArgument {
  /// A range of values. A range of anything else has no value.
  fileprivate static func range(_ low: FormatArgument, _ high: FormatArgument, isClosed: Bool) -> FormatArgument {
    guard case .value(let lower, let type) = low, case .value(let upper, _) = high else { return .null }
    return .range(lower, upper, type, isClosed: isClosed)
  }
}
