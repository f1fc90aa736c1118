import TrellisModel

extension StoreTool {
  /// The greatest number of bytes of the description of a whole model.
  private static let mostBytes = 60_000

  static let describe = StoreTool(
    name: "describe", title: "Describe the model",
    summary: """
      What the model of the store declares: entities, attributes with types and rules, relationships with delete rules, unique keys, \
      indexes, enums. With an entity, everything of it, and what it inherits. A large model is described by the names of its entities \
      only; then describe these.
      """,
    parameters: [Parameter(name: "entity", schema: schema("string", "The name of an entity."))],
    result: [
      ("model", schema("string", "The name of the model, without an entity.")),
      ("name", schema("string", "The name of the entity.")),
      ("entities", schema("array", "The entities, of the model.")),
      ("attributes", schema("array", "The attributes, of an entity.")),
      ("relationships", schema("array", "The relationships, of an entity.")),
    ], requiredInResult: 0
  ) { arguments, store in
    let model = try StoreOperand(store.path).model
    let described = DescribedModel(model)
    if let name = try arguments.text("entity") { return described.json(of: try model.needEntity(name)) }
    let whole = described.json()
    if whole.utf8.count <= mostBytes { return whole }
    return JSONText.object([
      ("model", JSONText.quoted(model.name)), ("doc", model.description.doc.map(JSONText.quoted) ?? "null"),
      ("entities", JSONText.list(model.entities.map { JSONText.object([("name", JSONText.quoted($0.name))]) })),
      ("cut", JSONText.quoted("The model is large: describe the entities one by one.")),
    ])
  }
}
