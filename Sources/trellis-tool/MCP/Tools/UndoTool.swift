import TrellisRuntime
import TrellisTimeTravel

extension StoreTool {
  private static let mostUndone = 200

  static let undo = StoreTool(
    name: "undo", title: "Take back saves",
    summary: """
      Takes back past saves in one transaction, the newest first: the objects and properties that they changed are as before them. If \
      later saves changed the same, each conflict is told and nothing is undone. The result is a save, which can be undone in turn. It \
      needs a model with "history": "values".
      """,
    parameters: [
      Parameter(
        name: "saves",
        schema: schema(
          "array", "The saves, by the token that change and history tell.",
          [("items", #"{ "type": "string" }"#), ("minItems", "1"), ("maxItems", "\(mostUndone)")]), isRequired: true),
      Parameter(name: "preview", schema: schema("boolean", "Whether it is only told what would be undone.")),
    ], result: change.result, requiredInResult: change.requiredInResult, effect: .changes
  ) { arguments, store in
    let texts = try arguments.texts("saves") ?? []
    guard !texts.isEmpty, texts.count <= mostUndone else {
      throw ToolArguments.wrong("'saves' must be 1 to \(mostUndone) saves.")
    }
    let isWritten = try !(arguments.flag("preview") ?? false)
    let container = try StoreOperand(store.path).container(readOnly: !isWritten)
    defer { container.close() }
    let saves = try Set(texts).map { text in
      guard let token = HistoryToken(text), let save = try container.transaction(token.transaction), save.token == token
      else {
        throw ToolArguments.wrong("The history of the store has no save \(text.inMessage); history lists the tokens.")
      }
      return save
    }
    return try written(container, isWritten: isWritten, keepsKeys: true, author: store.author) { draft, _ in
      try container.undo(saves, in: draft)
      return []
    }
  }
}
