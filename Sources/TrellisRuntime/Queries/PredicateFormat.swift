public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// A predicate as text, in the language that Core Data people know, with values bound to its places.
///
/// ```swift
/// let found = try context.fetch(EmotionDiary.where("content CONTAINS[cd] \(keyword) OR emotion == %@", "happy"))
/// ```
/// Both an interpolation and `%@` bind a value: it is compared, never read as a part of the text. So a format is a literal;
/// for text that comes at run time there is ``init(verbatim:_:)``. The format is read and checked against the model by the
/// fetch, which throws ``PredicateFormatError`` with the place, what was expected, and the nearest name.
public struct PredicateFormat: Sendable, ExpressibleByStringInterpolation {
  /// The text; interpolations stand in it as `%@`.
  public let text: String
  private let interpolated: [(offset: Int, value: FormatArgument)]
  private var arguments: [FormatArgument] = []
  private var bindings: [String: FormatArgument] = [:]
  /// The classes of the objects among the values.
  private var classes: [ManagedObject.Type] = []

  /// The format of a text that is not known when the program is written. Whoever may write the text may ask about
  /// everything that the model has; never put a user's input into it, but bind that with `%@`.
  public init(verbatim text: String, _ arguments: any PredicateArgument...) {
    self.text = text
    interpolated = []
    for argument in arguments { self.arguments.append(noted(argument)) }
  }

  public init(stringLiteral text: String) {
    self.text = text
    interpolated = []
  }

  public init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    interpolated = stringInterpolation.values
    classes = stringInterpolation.classes
  }

  /// Collects a literal's texts, and its values with their places.
  public struct StringInterpolation: StringInterpolationProtocol, Sendable {
    fileprivate var text = ""
    fileprivate var values: [(offset: Int, value: FormatArgument)] = []
    fileprivate var classes: [ManagedObject.Type] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 2)
    }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Binds a value.
    public mutating func appendInterpolation(_ value: some PredicateArgument) {
      let argument = value.formatArgument
      append(argument, "%@")
      if let found = argument.objectClass(of: value) { classes.append(found) }
    }

    /// Binds the name of a property, or a path of names with points, as `%K` does: `"\(key: "createdAt") > %@"`.
    public mutating func appendInterpolation(key path: String) { append(.value(.text(path), .text), "%K") }

    private mutating func append(_ value: FormatArgument, _ place: String) {
      values.append((text.utf8.count, value))
      text += place
    }
  }

  /// The format with values for its `$variables`; those that it had under the same names are replaced.
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

  /// What an argument is for a format. The class of an object is noted.
  private mutating func noted(_ value: any PredicateArgument) -> FormatArgument {
    let argument = value.formatArgument
    if let found = argument.objectClass(of: value) { classes.append(found) }
    return argument
  }

  /// The predicate for the objects of an entity.
  ///
  /// - Throws: ``PredicateFormatError``; ``ContextError`` when an object among the values is of another model.
  func predicate(of entity: Int, in runtime: RuntimeModel) throws -> QueryPredicate {
    for type in classes { try runtime.checkUnlessGeneral(type) }
    return try runtime.formats.predicate(
      FormatCache.Request(text: text, interpolated: interpolated, given: arguments, bindings: bindings), of: entity,
      in: runtime.model)
  }
}

extension ManagedObject: PredicateArgument {
  public var formatArgument: FormatArgument { .value(.integer(_key), .object(Self.numberForFormats(type(of: self)))) }

  fileprivate static func numberForFormats(_ type: ManagedObject.Type) -> Int? {
    type._entity < 0 ? nil : type._entity
  }
}

extension ObjectID {
  public var formatArgument: FormatArgument {
    .value(.integer(key), .object(ManagedObject.numberForFormats(Object.self)))
  }
}

extension AnyObjectID: PredicateArgument {
  public var formatArgument: FormatArgument { .value(.integer(key), .object(nil)) }
}
