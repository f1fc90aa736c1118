package import TrellisSchema

/// Cache of the formats parsed for a model, so that repeated fetches of the same shape need no parsing.
///
/// A shape is a text, an entity, and the types of the arguments. The cache is thread-safe.
package final class FormatCache: Sendable {
  /// A format with its arguments: first the interpolated ones with their offsets, in order, then those passed
  /// separately.
  package struct Request: Sendable {
    package var text: String
    package var interpolated: [(offset: Int, value: FormatArgument)]
    package var given: [FormatArgument]
    package var bindings: [String: FormatArgument]

    package init(
      text: String, interpolated: [(offset: Int, value: FormatArgument)], given: [FormatArgument],
      bindings: [String: FormatArgument]
    ) {
      self.text = text
      self.interpolated = interpolated
      self.given = given
      self.bindings = bindings
    }
  }

  private struct Key: Hashable {
    let text: String
    let entity: Int
    let types: [ArgumentType]
    let names: [String]
  }

  private enum ArgumentType: Hashable {
    case null, other
    case one(FormatType)
    case list(FormatType?)

    init(_ argument: FormatArgument) {
      self =
        switch argument {
        case .null: .null
        case .value(_, let type): .one(type)
        case .list(let list): .list(FormatChecker.elementType(list))
        case .range: .other
        }
    }
  }

  /// An app has few formats, unless it builds them from texts. Emptying a full cache then bounds the memory.
  private static let limit = 1_000
  /// The maximum length of a cached text, in bytes of UTF-8.
  private static let lengthLimit = 4_096

  private let templates = Locked<[Key: FormatTemplate]>([:])

  package init() {}

  /// The predicate of a format.
  ///
  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the format on first use, linear in the predicate afterwards.
  package func predicate(
    _ request: Request, of entity: Int, in model: Model
  ) throws(PredicateFormatError) -> QueryPredicate {
    let names = request.bindings.isEmpty ? [] : request.bindings.keys.sorted()
    let arguments = request.interpolated.map(\.value) + request.given + names.compactMap { request.bindings[$0] }
    let key = Key(text: request.text, entity: entity, types: arguments.map { ArgumentType($0) }, names: names)
    if let known = templates.withLock({ $0[key] }) { return try known.predicate(arguments, in: model) }
    let (template, isReusable) = try FormatTemplate.read(request, of: entity, in: model, names)
    if isReusable && request.text.utf8.count <= Self.lengthLimit {
      templates.withLock { templates in
        if templates.count >= Self.limit { templates.removeAll() }
        templates[key] = template
      }
    }
    return try template.predicate(arguments, in: model)
  }

  /// The number of cached formats.
  package var count: Int { templates.withLock { $0.count } }
}

extension FormatTemplate {
  fileprivate static func read(
    _ request: FormatCache.Request, of number: Int, in model: Model, _ names: [String]
  ) throws(PredicateFormatError) -> (FormatTemplate, isReusable: Bool) {
    let text = request.text
    guard model.entities.indices.contains(number) else {
      throw PredicateFormatError(.unknownProperty, "The model has no entity of this number.", in: text, at: 0)
    }
    let entity = model.entities[number]
    let base = request.interpolated.count + request.given.count
    var interpolated: [Int: FormatArgument] = [:]
    for (offset, value) in request.interpolated { interpolated[offset] = value }
    var parser = FormatParser(
      text,
      FormatArguments(
        interpolated: interpolated, offsets: request.interpolated.map(\.offset), given: request.given))
    let node = try parser.parse()
    var checker = FormatChecker(text, model, entity, variable: 0, bindings: request.bindings)
    checker.makesTemplate = true
    for (place, name) in names.enumerated() { checker.bindingNumbers[name] = base + place }
    let predicate = try checker.condition(node)
    if let variable = checker.variables.first {
      throw PredicateFormatError(
        .unboundVariable, "$\(variable.name) has no value; bind it with binding([\"\(variable.name)\": …]).", in: text,
        at: variable.offset)
    }
    do {
      try predicate.checkDepth()
    } catch {
      throw PredicateFormatError(.tooDeep, error.description, in: text, at: 0)
    }
    return (
      FormatTemplate(entity: entity, text: text, predicate: predicate, slots: checker.slots),
      !checker.dependsOnValues && !parser.readKeyPaths
    )
  }
}
