import TrellisSchema

/// `CAST(value, 'type')`.
extension FormatChecker {
  mutating func cast(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    guard arguments.count == 2, case .text(let target) = arguments[1].content else {
      throw error(
        .wrongArgument, "CAST needs a value and a type in quotes, as in CAST('2026-01-31', 'NSDate').", at: start)
    }
    let value = try side(arguments[0])
    let place = arguments[0].start
    switch target.lowercased() {
    case "nsdate", "date": return try date(value, at: place)
    case "nsdecimalnumber", "decimal":
      switch value {
      case .number(let digits), .text(let digits):
        if let text = DecimalText.canonical(digits) { return .typed(.value(.text(text)), .decimal) }
        if case .text = value {
          throw error(.invalidConstant, "This is no decimal number of at most 38 digits.", at: place)
        }
        return try converted(value, .decimal, .decimal, at: place)
      default: return try converted(value, .decimal, .decimal, at: place)
      }
    case "double": return try converted(value, .real, .real, at: place)
    case "nsnumber":
      if case .typed(let operand, .date) = value { return .typed(Self.applied(.seconds, to: operand), .real) }
      if case .argument(.value(let moment, .date)) = value {
        return .typed(.value(ValueArithmetic.apply(.seconds, moment)), .real)
      }
      return try converted(value, .real, .real, at: place)
    case "nsstring", "string": return try text(value, at: place)
    case "nsdata", "data": return .typed(.value(.blob(try decoded(value, "Base64", Base64Text.bytes, place))), .data)
    case "nsuuid", "uuid": return .typed(.value(.blob(try decoded(value, "UUID", UUIDText.bytes, place))), .uuid)
    case "objectid", "nsmanagedobjectid":
      guard case .number(let digits) = value, let key = Int64(digits) else {
        throw error(.invalidConstant, "An object's key is a whole number.", at: place)
      }
      return .typed(.value(.integer(key)), .object(nil))
    default:
      throw error(
        .unknownFunction,
        "There is no such type to cast to; there are 'NSDate', 'NSNumber', 'NSString', 'Decimal', 'Double', 'Data' and 'UUID'.",
        at: arguments[1].start)
    }
  }

  private func date(_ value: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    switch value {
    case .typed(_, .date), .argument(.value(_, .date)): return value
    case .text(let text), .argument(.value(.text(let text), .text)):
      if let micros = DateText.microseconds(text) { return .typed(.value(.integer(micros)), .date) }
      throw error(
        .invalidConstant, "This is no date; dates are written 2026-01-31 or 2026-01-31T09:30:00Z.", at: start)
    case .number(let digits):
      // A number is seconds since 2001, as Core Data prints dates.
      let sinceReference = ValueArithmetic.apply(
        .microseconds, DecimalText.canonical(digits).map { .text($0) } ?? .null)
      let micros = ValueArithmetic.compute(.add, sinceReference, .integer(ValueArithmetic.referenceDate))
      if case .integer = micros { return .typed(.value(micros), .date) }
      throw error(.invalidConstant, "This number of seconds is too large for a date.", at: start)
    case .typed(let operand, let type) where type.isNumber: return Self.date(operand)
    case .argument(.value(let seconds, let type)) where type.isNumber: return Self.date(.value(seconds))
    default: throw error(.typeMismatch, "Only a text or seconds since 2001 can be made a date.", at: start)
    }
  }

  /// Converts seconds since 2001 to a date.
  private static func date(_ seconds: Operand) -> FormatSide {
    let micros = Operand.computed(.function(.microseconds, seconds))
    return .typed(.computed(.arithmetic(.add, .value(.integer(ValueArithmetic.referenceDate)), micros)), .date)
  }

  /// Converts a number to a text. Text values stay unchanged.
  private func text(_ value: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    let (operand, type) = try typed(value, at: start)
    switch type {
    case .text, .url, .entity: return .typed(operand, .text)
    case .enumeration where kind(type) == .text: return .typed(operand, .text)
    case .integer, .real, .decimal, .bool, .enumeration: return .typed(Self.applied(.text, to: operand), .text)
    case .date, .data, .uuid, .object, .json:
      throw error(
        .typeMismatch,
        "This is \(type.name), of which stores make no text; make a value of its kind, and compare that.",
        at: start)
    }
  }

  /// Applies a function; a function of a constant is a constant.
  private static func applied(_ function: ValueFunction, to operand: Operand) -> Operand {
    if case .value(let constant) = operand { return .value(ValueArithmetic.apply(function, constant)) }
    return .computed(.function(function, operand))
  }

  private func converted(
    _ value: FormatSide, _ function: ValueFunction, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    let (operand, given) = try typed(value, at: start)
    // A text that is a plain number converts to it; any other text converts to nil.
    if given != .text { try expectNumber(given, at: start) }
    if given == type { return .typed(operand, type) }
    let result = Self.applied(function, to: operand)
    if case .value(.null) = result {
      throw error(.invalidConstant, "This text is no number.", at: start)
    }
    return .typed(result, type)
  }

  private func decoded(
    _ value: FormatSide, _ what: String, _ decode: (String) -> [UInt8]?, _ start: Int
  ) throws(PredicateFormatError) -> [UInt8] {
    if case .text(let text) = value, let bytes = decode(text) { return bytes }
    throw error(.invalidConstant, "This is no \(what).", at: start)
  }
}
