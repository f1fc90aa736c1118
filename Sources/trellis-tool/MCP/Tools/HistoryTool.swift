import TrellisDynamic
import TrellisRuntime

extension StoreTool {
  /// The bounds of a page of saves.
  private static let (usualSaves, mostSaves, mostChanges) = (20, 200, 50)

  static let history = StoreTool(
    name: "history", title: "List past saves",
    summary: """
      The last saves of the store, the newest first: when, by whom, and which objects were inserted, changed and deleted. It needs a \
      model with "history". nextCursor leads to older ones.
      """,
    parameters: [
      Parameter(
        name: "object",
        schema: schema("string", "The name of an object: only its changes are listed, of the saves of the page.")),
      Parameter(
        name: "limit",
        schema: schema(
          "integer", "The greatest number of saves.",
          [("minimum", "1"), ("maximum", "\(mostSaves)"), ("default", "\(usualSaves)")])),
      Parameter(name: "cursor", schema: schema("string", "The nextCursor of a former result.")),
    ],
    result: [
      note, ("saves", schema("array", "The saves, each with its number and its token, either of which names it.")),
      ("nextCursor", schema("string", "Leads to older saves. Missing after the oldest one that is kept.")),
    ], requiredInResult: 2
  ) { arguments, store in
    let limit = try arguments.number("limit", in: 1...mostSaves) ?? usualSaves
    let end = try arguments["cursor"].map { _ throws(ToolFailure) in Int64(try arguments.position()) }
    let object = try arguments.text("object").map { text throws(ToolFailure) in try ObjectName(argument: text) }
    let container = try StoreOperand(store.path).container(readOnly: true)
    defer { container.close() }
    let found = try container.newestSaves(limit + 1, through: end)
    let shown = found.suffix(limit).reversed()
    let rows = shown.compactMap { save in text(of: save, about: object.map { "\($0)" }) }
    let isComplete = found.count <= limit
    return JSONText.object(
      [noteText, ("saves", JSONText.list(rows))]
        + (isComplete ? [] : [("nextCursor", JSONText.quoted("\(found[0].token.transaction)"))]))
  }

  /// - Parameter object: The name of the object that is asked for; nil for all.
  /// - Returns: nil if the save has no change of the object.
  private static func text(of save: HistoryTransaction, about object: String?) -> String? {
    let changes = save.changes.filter { object == nil || "\($0.id)" == object }
    if object != nil, changes.isEmpty { return nil }
    return JSONText.object(
      SaveText(save).members + [
        ("isComplete", "\(save.isComplete)"),
        ("changes", JSONText.list(changes.prefix(mostChanges).map { JSONText.quoted("\($0)") })),
        ("changeCount", "\(changes.count)"),
      ])
  }
}
