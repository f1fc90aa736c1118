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
      if case .number(let digits) = value, let text = DecimalText.canonical(digits) {
        return .typed(.value(.text(text)), .decimal)
      }
      return try converted(value, .decimal, .decimal, at: place)
    case "nsnumber", "double": return try converted(value, .real, .real, at: place)
    case "nsdata", "data": return .typed(.value(.blob(try decoded(value, "Base64", Base64Text.bytes, place))), .data)
    case "nsuuid", "uuid": return .typed(.value(.blob(try decoded(value, "UUID", UUIDText.bytes, place))), .uuid)
    case "objectid", "nsmanagedobjectid":
      guard case .number(let digits) = value, let key = Int64(digits) else {
        throw error(.invalidConstant, "An object's key is a whole number.", at: place)
      }
      return .typed(.value(.integer(key)), .object(nil))
    default:
      throw error(
        .unknownFunction, "There is no such type to cast to; there are 'NSDate', 'Decimal', 'Double', 'Data', 'UUID'.",
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
      // As Core Data prints dates: seconds since 2001.
      let sinceReference = ValueArithmetic.apply(
        .microseconds, DecimalText.canonical(digits).map { .text($0) } ?? .null)
      let micros = ValueArithmetic.compute(.add, sinceReference, .integer(978_307_200_000_000))
      if case .integer = micros { return .typed(.value(micros), .date) }
      throw error(.invalidConstant, "This number of seconds is too large for a date.", at: start)
    default: throw error(.typeMismatch, "Only a text or seconds since 2001 can be made a date.", at: start)
    }
  }

  private func converted(
    _ value: FormatSide, _ function: ValueFunction, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    let (operand, given) = try typed(value, at: start)
    try expectNumber(given, at: start)
    if given == type { return value }
    if case .value(let constant) = operand { return .typed(.value(ValueArithmetic.apply(function, constant)), type) }
    return .typed(.computed(.function(function, operand)), type)
  }

  private func decoded(
    _ value: FormatSide, _ what: String, _ decode: (String) -> [UInt8]?, _ start: Int
  ) throws(PredicateFormatError) -> [UInt8] {
    if case .text(let text) = value, let bytes = decode(text) { return bytes }
    throw error(.invalidConstant, "This is no \(what).", at: start)
  }
}
