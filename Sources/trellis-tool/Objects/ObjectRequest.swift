import Foundation
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A request for objects of an entity, as the options of a command describe it.
struct ObjectRequest {
  let entity: Entity
  let request: StoreRequest
  private let context: ManagedObjectContext

  /// The number of objects that are listed without `--limit`.
  private static let usualLimit = 100
  /// The greatest number of cells of a line.
  private static let lineWidth = 110
  private static let mostLetters = 36

  /// - Parameter isLimited: Whether there is a limit without `--limit`.
  init(
    _ name: String, where format: String?, _ arguments: [String], _ options: ParsedArguments, of command: ToolCommand,
    isLimited: Bool = true, in context: ManagedObjectContext
  ) throws {
    self.context = context
    entity = try context.model.needEntity(name)
    let limit = try Self.number("limit", options, command)
    let offset = try Self.number("offset", options, command) ?? 0
    let sort = options.value(of: "sort")?.split(separator: ",").map(String.init) ?? []
    let hasUsualLimit = isLimited && !options.has("json") && !options.has("count")
    request = try FormatArguments.trying(arguments) { [entity] arguments in
      try context.request(
        for: entity.index, format: format, arguments: arguments, sort: sort,
        limit: limit ?? (hasUsualLimit ? Self.usualLimit : nil), offset: offset)
    }
  }

  private static func number(
    _ option: String, _ options: ParsedArguments, _ command: ToolCommand
  ) throws(ToolFailure) -> Int? {
    guard let text = options.value(of: option) else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw .usage("\(text.inMessage) is no number for --\(option).", of: command)
    }
    return number
  }

  // MARK: Output

  /// The number of objects, after limit and offset.
  func count() throws -> Int { try context.count(of: request) }

  /// How the store would answer.
  func plan() throws -> QueryPlan { try context.plan(of: request) }

  func json() throws -> String {
    JSONText.lines(try objects().map { try ObjectJSON.text($0, members: false) })
  }

  func table() throws -> String {
    let objects = try objects()
    let shown = entity.properties.filter { !$0.isTransient && $0.relationship?.isToMany != true }
    if objects.isEmpty { return "no objects\n" }
    var rows = [["object"] + shown.map(\.name)]
    for object in objects { rows.append(["\(object)"] + (try shown.map { try Self.cell($0, of: object) })) }
    let numbers = shown.indices.filter { shown[$0].attribute?.type.isNumber == true }.map { $0 + 1 }
    let table = TextTable(TextTable.fitting(rows, width: Self.lineWidth), numbers: Set(numbers))
    return table.text + (try rest(after: objects.count))
  }

  private static func cell(_ property: Property, of object: DynamicObject) throws -> String {
    switch property {
    case .attribute(let attribute):
      ValueText(attribute).shortText(try object.value(attribute.name), length: mostLetters)
    case .relationship(let relationship): try ObjectText.partnerName(of: object, relationship) ?? "nil"
    }
  }

  /// What the limit leaves out.
  private func rest(after count: Int) throws -> String {
    guard let limit = request.limit, count >= limit else { return "" }
    var whole = request
    (whole.limit, whole.offset) = (nil, 0)
    let all = try context.count(of: whole)
    let end = request.offset + count
    return end < all ? "\(count) of \(all) objects; --offset \(end) shows the next\n" : ""
  }

  private func objects() throws -> [DynamicObject] {
    let paths = entity.properties.compactMap(\.relationship).filter { !$0.isToMany && !$0.isTransient }
      .map { PropertyPath(variable: 0).appending($0.index) }
    return try context.objects(of: request, prefetching: paths).compactMap { $0 as? DynamicObject }
  }
}

extension AttributeType {
  fileprivate var isNumber: Bool {
    switch self {
    case .int16, .int32, .int64, .float, .double, .decimal: true
    default: false
    }
  }
}

/// The arguments of a format's placeholders as texts.
enum FormatArguments {
  /// Reads each argument as what it looks like, and as a text where that does not fit the format.
  static func trying<Result>(_ texts: [String], _ body: ([FormatArgument]) throws -> Result) throws -> Result {
    let candidates = texts.map { text in typed(text).map { [$0, Self.text(text)] } ?? [Self.text(text)] }
    var first: (any Error)?
    // Each argument that looks like another type doubles the number of ways.
    for way in 0..<(1 << min(candidates.count { $0.count > 1 }, 8)) {
      var bits = way
      let chosen = candidates.map { candidate in
        if candidate.count == 1 { return candidate[0] }
        defer { bits >>= 1 }
        return candidate[bits & 1]
      }
      do { return try body(chosen) } catch let error as PredicateFormatError { first = first ?? error }
    }
    throw first ?? CancellationError()
  }

  private static func text(_ text: String) -> FormatArgument { .value(.text(text), .text) }

  /// The argument of another type than text that a text looks like.
  private static func typed(_ text: String) -> FormatArgument? {
    switch text {
    case "nil": return .null
    case "true", "false": return .value(.integer(text == "true" ? 1 : 0), .bool)
    default: break
    }
    if let name = ObjectName(text) { return .value(.integer(name.key), .object(nil)) }
    if let number = Int64(text) { return .value(.integer(number), .integer) }
    if let decimal = DecimalText.canonical(text) { return .value(.text(decimal), .decimal) }
    if let date = DateText.keptMicroseconds(text) { return .value(.integer(date), .date) }
    if let uuid = UUIDText.bytes(text) { return .value(.blob(uuid), .uuid) }
    return nil
  }
}
