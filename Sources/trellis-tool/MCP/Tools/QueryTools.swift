import TrellisDynamic
import TrellisModel
import TrellisRuntime

extension StoreTool {
  /// The bounds of a page of objects.
  private static let (usualObjects, mostObjects, mostBytesOfPage) = (50, 1_000, 150_000)

  static let query = StoreTool(
    name: "query", title: "Find objects",
    summary: """
      The objects of an entity that match a predicate. Each has its name under _object, its version under _version, the values of its \
      attributes and the names of its to-one partners; members of to-many relationships only if columns name them. Values and lists \
      that are cut are named under _cut; get has them whole. If there are more objects, nextCursor leads to the next page.
      """,
    parameters: [entity] + predicate + [
      Parameter(
        name: "sort",
        schema: texts("Properties to sort by, -name from the greatest on. Without it, the order is that of the keys.")),
      Parameter(
        name: "columns", schema: texts("The properties to show, instead of all but the relationships to many.")),
      Parameter(
        name: "limit",
        schema: schema(
          "integer", "The greatest number of objects.",
          [("minimum", "1"), ("maximum", "\(mostObjects)"), ("default", "\(usualObjects)")])),
      Parameter(name: "cursor", schema: schema("string", "The nextCursor of a former result of the same query.")),
    ],
    result: [
      note, ("objects", schema("array", "The objects.")),
      ("isComplete", schema("boolean", "Whether these are the last ones.")),
      ("nextCursor", schema("string", "Leads to the next page. Missing after the last one.")),
    ], requiredInResult: 3
  ) { arguments, store in
    let limit = try arguments.number("limit", in: 1...mostObjects) ?? usualObjects
    let offset = try arguments.position()
    return try store.reading { context in
      // One more object tells whether there are more.
      let request = try request(
        arguments, sort: arguments.texts("sort") ?? [], limit: limit + 1, offset: offset,
        columns: arguments.texts("columns"),
        in: context)
      let found = try request.objects()
      var (rows, bytes): ([String], Int) = ([], 0)
      for object in found.prefix(limit) {
        let row = try ObjectRow.text(object, request.columns, members: ObjectRow.fewMembers)
        bytes += row.utf8.count
        if bytes > mostBytesOfPage, !rows.isEmpty { break }
        rows.append(row)
      }
      let isComplete = rows.count == found.count
      return JSONText.object(
        [noteText, ("objects", JSONText.list(rows)), ("isComplete", "\(isComplete)")]
          + (isComplete ? [] : [("nextCursor", JSONText.quoted("\(offset + rows.count)"))]))
    }
  }

  static let count = StoreTool(
    name: "count", title: "Count objects",
    summary:
      "The number of objects of an entity that match a predicate. Without an entity, the number of objects of each.",
    parameters: [Parameter(name: "entity", schema: entity.schema)] + predicate,
    result: [
      ("count", schema("integer", "The number of objects.")),
      ("entities", schema("array", "The entities with their own numbers of objects, without those of subentities.")),
    ], requiredInResult: 0
  ) { arguments, store in
    try store.reading { context in
      if arguments["entity"] == nil {
        guard arguments["where"] == nil else { throw ToolArguments.wrong("A predicate needs an 'entity'.") }
        return JSONText.object([("entities", try List.entities(context, asJSON: true))])
      }
      return JSONText.object([("count", "\(try request(arguments, in: context).count())")])
    }
  }

  static let explain = StoreTool(
    name: "explain", title: "Explain a query",
    summary:
      "How the store would find the objects of a query: its statement, its steps, and the index that the model lacks.",
    parameters: [entity] + predicate + [
      Parameter(name: "sort", schema: texts("Properties to sort by, as in a query."))
    ],
    result: [
      ("steps", texts("The steps, in the words of the store.")),
      ("scansWholeTable", schema("boolean", "Whether each row is read.")),
      ("statement", schema("string", "The statement, if the store has a query language.")),
      ("advice", schema("string", "The index that the model lacks, if one would help.")),
    ], requiredInResult: 2
  ) { arguments, store in
    try store.reading { context in
      let plan = try request(arguments, sort: arguments.texts("sort") ?? [], limit: usualObjects, in: context).plan()
      let optional = [("statement", plan.statement), ("advice", plan.missingIndex?.description)]
      return JSONText.object(
        [("steps", JSONText.list(plan.steps.map(JSONText.quoted))), ("scansWholeTable", "\(plan.scansWholeTable)")]
          + optional.compactMap { name, text in text.map { (name, JSONText.quoted($0)) } })
    }
  }

  /// The failure for a value that no placeholder takes.
  private static func misfit(_ value: JSONValue, _ place: String) -> ToolFailure {
    if case .number(let text) = value {
      return ToolArguments.wrong("\(place) is \(text.prefix(40)), which is beyond all types of numbers.")
    }
    if let list = value.list,
      let number = list.indices.first(where: { list[$0].list != nil || FormatArguments.candidates(list[$0]) == nil })
    {
      return list[number].list == nil
        ? misfit(list[number], "\(place)[\(number)]")
        : ToolArguments.wrong(
          "\(place)[\(number)] is a list in a list. A list has texts, numbers, true, false and null.")
    }
    return ToolArguments.wrong(
      "\(place) is \(value.kind). Arguments are texts, numbers, true, false, null, and lists of these.")
  }

  private static func request(
    _ arguments: ToolArguments, sort: [String] = [], limit: Int? = nil, offset: Int = 0, columns: [String]? = nil,
    in context: ManagedObjectContext
  ) throws -> ObjectRequest {
    let values = arguments["arguments"] ?? .list([])
    guard let list = values.list else {
      throw ToolArguments.wrong("'arguments' must be a list of values, and not \(values.kind).")
    }
    let candidates = try list.enumerated().map { place, value in
      guard let found = FormatArguments.candidates(value) else { throw misfit(value, "arguments[\(place)]") }
      return found
    }
    return try ObjectRequest(
      arguments.needText("entity"), where: arguments.text("where"), candidates, sort: sort, limit: limit,
      offset: offset,
      columns: columns?.joined(separator: ","), in: context)
  }
}
