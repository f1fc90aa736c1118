import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// A request for objects of an entity, as the options of a command describe it.
struct ObjectRequest {
  let entity: Entity
  let request: StoreRequest
  private let context: ManagedObjectContext
  /// The properties of the columns; nil for those that a line has room for.
  let columns: [Property]?

  /// The number of objects that are listed without `--limit`.
  private static let usualLimit = 100
  private static let mostLetters = 36

  /// - Parameter isLimited: Whether there is a limit without `--limit`.
  init(
    _ name: String, where format: String?, _ arguments: [String], _ options: ParsedArguments, of command: ToolCommand,
    isLimited: Bool = true, in context: ManagedObjectContext
  ) throws {
    let limit = try Self.number("limit", options, command)
    let hasUsualLimit = isLimited && !options.has("json") && !options.has("count")
    try self.init(
      name, where: format, arguments.map(FormatArguments.candidates),
      sort: options.value(of: "sort")?.split(separator: ",").map(String.init) ?? [],
      limit: limit ?? (hasUsualLimit ? Self.usualLimit : nil), offset: Self.number("offset", options, command) ?? 0,
      // The columns of a CSV file have names of their own.
      columns: command == .exportCSV ? nil : options.value(of: "columns"), in: context)
  }

  /// - Parameters:
  ///   - arguments: For each placeholder what it may stand for, the likeliest first.
  ///   - columns: The names of properties with commas between, or `all`; nil for those that a line has room for.
  init(
    _ name: String, where format: String?, _ arguments: [[FormatArgument]], sort: [String] = [], limit: Int? = nil,
    offset: Int = 0, columns names: String? = nil, in context: ManagedObjectContext
  ) throws {
    self.context = context
    entity = try context.model.needEntity(name)
    columns = try names.map { [entity] names in try Self.columns(names, of: entity) }
    request = try FormatArguments.trying(arguments) { [entity] arguments in
      try context.request(
        for: entity.index, format: format, arguments: arguments, sort: sort, limit: limit, offset: offset)
    }
  }

  /// The properties of a list such as `title,mood`, or all of them.
  private static func columns(_ names: String, of entity: Entity) throws -> [Property] {
    if names == "all" { return entity.properties.filter { !$0.isTransient } }
    return try names.split(separator: ",").map { name in
      try entity.needProperty(String(name.drop { $0 == " " }))
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
    if objects.isEmpty { return "no objects\n" }
    let possible = entity.properties.filter { !$0.isTransient }
    let shown = columns ?? possible.filter { $0.relationship?.isToMany != true }
    var rows = [["object"] + shown.map(\.name)]
    for object in objects { rows.append(["\(object)"] + (try shown.map { try Self.cell($0, of: object) })) }
    // Columns that were asked for are never left out.
    let fitting = columns == nil ? TextTable.fitting(rows, width: Console.width) : rows
    let numbers = shown.indices.filter { shown[$0].isNumber }.map { $0 + 1 }
    let names = fitting[0].dropFirst()
    let left = columns == nil ? possible.map(\.name).filter { !names.contains($0) } : []
    return TextTable(fitting, numbers: Set(numbers)).text + (try rest(after: objects.count)) + Self.note(left)
  }

  /// Says which columns are left out.
  private static func note(_ left: [String]) -> String {
    if left.isEmpty { return "" }
    return "not shown: \(left.joined(separator: ", ")); --columns all or --columns NAMES shows more\n"
  }

  private static func cell(_ property: Property, of object: DynamicObject) throws -> String {
    switch property {
    case .attribute(let attribute):
      ValueText(attribute).shortText(try object.value(attribute.name), length: mostLetters)
    case .relationship(let relationship) where relationship.isToMany:
      "\(try object.memberKeys(relationship.name).count)"
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

  /// The objects, with the partners of their to-ones.
  func objects() throws -> [DynamicObject] {
    let paths = entity.properties.compactMap(\.relationship).filter { !$0.isToMany && !$0.isTransient }
      .map { PropertyPath(variable: 0).appending($0.index) }
    return try context.objects(of: request, prefetching: paths).compactMap { $0 as? DynamicObject }
  }
}

extension Property {
  /// Whether a column shows numbers: a to-many is shown by the count of its members.
  fileprivate var isNumber: Bool {
    switch self {
    case .attribute(let attribute):
      switch attribute.type {
      case .integer, .float, .double, .decimal: true
      default: false
      }
    case .relationship(let relationship): relationship.isToMany
    }
  }
}

/// The arguments of a format's placeholders as texts.
enum FormatArguments {
  /// What a text among the arguments of a command may stand for: what it looks like, and the text.
  static func candidates(_ text: String) -> [FormatArgument] {
    (typed(text) ?? list(text)).map { [$0, Self.text(text)] } ?? [Self.text(text)]
  }

  /// What a JSON value may stand for. A text is never anything but a text, or the date, the UUID or the object that it looks like.
  ///
  /// - Returns: nil for an object, and for a list with lists or objects.
  static func candidates(_ value: JSONValue) -> [FormatArgument]? {
    switch value {
    case .null: [.null]
    case .bool(let flag): [.value(.integer(flag ? 1 : 0), .bool)]
    case .number(let text): number(text).map { [$0] }
    case .string(let text): typedText(text).map { [$0, Self.text(text)] } ?? [Self.text(text)]
    case .list(let values): list(values).map { list in list.typed.map { [$0, list.plain] } ?? [list.plain] }
    case .object: nil
    }
  }

  /// A list of values, and the same with its texts as the dates, UUIDs or objects that all of them look like.
  private static func list(_ values: [JSONValue]) -> (plain: FormatArgument, typed: FormatArgument?)? {
    let candidates = values.compactMap { $0.list == nil ? Self.candidates($0) : nil }
    guard candidates.count == values.count else { return nil }
    let isTyped = !candidates.isEmpty && candidates.allSatisfy { $0.count > 1 }
    return (.list(candidates.compactMap(\.last)), isTyped ? .list(candidates.compactMap(\.first)) : nil)
  }

  private static func number(_ text: String) -> FormatArgument? {
    if let number = Int64(text) { return .value(.integer(number), .integer) }
    if let decimal = DecimalText.canonical(text) { return .value(.text(decimal), .decimal) }
    // Words such as nan and inf, and hexadecimal digits, are texts.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }), let number = Double(text),
      number.isFinite
    else { return nil }
    return .value(.real(number), .real)
  }

  /// Tries what each argument may stand for, until the format has it.
  static func trying<Result>(
    _ candidates: [[FormatArgument]], _ body: ([FormatArgument]) throws -> Result
  ) throws -> Result {
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

  /// The list that a JSON array such as `["a", "b"]` or `[1, 2]` stands for; nil for another text.
  private static func list(_ text: String) -> FormatArgument? {
    guard text.first == "[", let values = (try? JSONValue(Array(text.utf8)))?.list, let list = list(values) else {
      return nil
    }
    return list.typed ?? list.plain
  }

  /// The argument of another type than text that a text looks like.
  private static func typed(_ text: String) -> FormatArgument? {
    switch text {
    case "nil": return .null
    case "true", "false": return .value(.integer(text == "true" ? 1 : 0), .bool)
    default: break
    }
    return number(text) ?? typedText(text)
  }

  /// The object, the date or the UUID that a text looks like.
  private static func typedText(_ text: String) -> FormatArgument? {
    if let name = ObjectName(text) { return .value(.integer(name.key), .object(nil)) }
    if let date = DateText.keptMicroseconds(text) { return .value(.integer(date), .date) }
    if let uuid = UUIDText.bytes(text) { return .value(.blob(uuid), .uuid) }
    return nil
  }
}
