public import TrellisModel
public import TrellisStorage

/// A predicate as text, in the format language of Core Data's `NSPredicate`, with bound values.
///
/// ```swift
/// let found = try context.fetch(EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion == %@", "happy"))
/// ```
/// Interpolations and `%@` bind a value, which is compared and never parsed as part of the text. A format is therefore
/// a literal; use ``init(verbatim:_:)`` for text that is known only at run time. The fetch parses the format, checks it
/// against the model, and throws ``PredicateFormatError`` with the position, the expected token and the nearest name.
public struct PredicateFormat: Sendable, ExpressibleByStringInterpolation {
  /// The text, with `%@` in place of each interpolation.
  public let text: String
  private let interpolated: [(offset: Int, value: FormatArgument)]
  private var arguments: [FormatArgument] = []
  private var bindings: [String: FormatArgument] = [:]
  /// The classes of the objects among the values.
  private var classes: [ManagedObject.Type] = []

  /// Creates a format from text that is known only at run time. The text can query everything in the model. Never
  /// insert user input into it; bind the input with `%@` instead.
  public init(verbatim text: String, _ arguments: any PredicateArgument...) {
    self.text = text
    interpolated = []
    for argument in arguments { self.arguments.append(noted(argument)) }
  }

  /// Creates a format from a literal without interpolations.
  public init(stringLiteral text: String) {
    self.text = text
    interpolated = []
  }

  /// Creates a format from a literal with interpolations.
  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    interpolated = stringInterpolation.values
    classes = stringInterpolation.classes
  }

  /// Collects the text of a literal, and its values with their positions.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    fileprivate var values: [(offset: Int, value: FormatArgument)] = []
    fileprivate var classes: [ManagedObject.Type] = []

    /// Creates an empty collection with capacity for a literal.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 2)
    }

    /// Appends text.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Binds a value.
    public mutating func appendInterpolation(_ value: some PredicateArgument) {
      let argument = value.formatArgument
      append(argument, "%@")
      if let found = argument.objectClass(of: value) { classes.append(found) }
    }

    /// Binds the name of a property, or a path of names with dots, as `%K` does: `"\(key: "createdAt") > %@"`.
    public mutating func appendInterpolation(key path: String) { append(.value(.text(path), .text), "%K") }

    private mutating func append(_ value: FormatArgument, _ place: String) {
      values.append((text.utf8.count, value))
      text += place
    }
  }

  /// The format with values for its `$variables`. Previous values under the same names are replaced.
  ///
  /// ```swift
  /// let byEmotion: PredicateFormat = "emotion == $emotion"
  /// let happy = try context.fetch(EmotionDiary.where(byEmotion.binding(["emotion": Emotion.happy])))
  /// ```
  public func binding(_ values: [String: any PredicateArgument]) -> PredicateFormat {
    var bound = self
    for (name, value) in values { bound.bindings[name] = bound.noted(value) }
    return bound
  }

  func with(_ more: [any PredicateArgument]) -> PredicateFormat {
    var format = self
    for argument in more { format.arguments.append(format.noted(argument)) }
    return format
  }

  /// The format argument of a value. The class of an object is recorded.
  private mutating func noted(_ value: any PredicateArgument) -> FormatArgument {
    let argument = value.formatArgument
    if let found = argument.objectClass(of: value) { classes.append(found) }
    return argument
  }

  /// The predicate for an entity.
  ///
  /// - Throws: ``PredicateFormatError``; ``ContextError`` if an object among the values belongs to another model.
  func predicate(of entity: Int, in runtime: RuntimeModel) throws -> QueryPredicate {
    for type in classes { try runtime.checkUnlessGeneral(type) }
    return try runtime.formats.predicate(
      FormatCache.Request(text: text, interpolated: interpolated, given: arguments, bindings: bindings), of: entity,
      in: runtime.model)
  }
}

extension ManagedObject: PredicateArgument {
  /// The object's key as a format argument.
  public var formatArgument: FormatArgument { .value(.integer(_key), .object(Self.numberForFormats(type(of: self)))) }

  fileprivate static func numberForFormats(_ type: ManagedObject.Type) -> Int? {
    type._entity < 0 ? nil : type._entity
  }
}

extension ObjectID {
  /// The key as a format argument.
  public var formatArgument: FormatArgument {
    .value(.integer(key), .object(ManagedObject.numberForFormats(Object.self)))
  }
}

extension AnyObjectID: PredicateArgument {
  /// The key as a format argument.
  public var formatArgument: FormatArgument { .value(.integer(key), .object(nil)) }
}
