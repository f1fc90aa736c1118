import TrellisDynamic
import TrellisRuntime
import TrellisStorage

extension StoreTool {
  private static let changes = Parameter(
    name: "changes",
    schema: schema(
      "array",
      "Changes that are made together, in their order: {\"insert\": \"Note\", \"values\": {…}}, "
        + "{\"set\": \"Note#5\", \"version\": 3, \"values\": {…}} or {\"delete\": \"Note#5\", \"version\": 3}. The version is the "
        + "_version that was read. Values have the forms that query shows, also the names of enum cases, \"now\" for a date and \"new\" "
        + "for a UUID. A to-one takes the name of an object or null, a to-many a list of names or {\"add\": […], \"remove\": […]}. "
        + "With \"as\": \"@trip\" in an insert, @trip is the name of the new object in later changes.",
      [
        ("minItems", "1"), ("maxItems", "\(RequestedChanges.mostSteps)"),
        (
          "items",
          JSONText.object([
            ("type", "\"object\""),
            (
              "properties",
              JSONText.object([
                ("insert", schema("string", "An entity that gets a new object.")),
                ("as", schema("string", "A word for the new object in later changes, such as @trip.")),
                ("set", schema("string", "An object that gets other values.")),
                ("delete", schema("string", "An object that goes, with all that its delete rules take along.")),
                ("version", schema("integer", "The _version of the object that was read.")),
                ("values", schema("object", "The new values by property.")),
              ])
            ),
          ])
        ),
      ]), isRequired: true)

  private static let outcome = [
    note, ("isValid", schema("boolean", "Whether no rule is broken.")),
    ("changes", schema("array", "What happens to each object, also to those that delete rules and inverses reach.")),
    ("brokenRules", texts("The rules that the changes break. Nothing can be written then.")),
  ]

  static let preview = StoreTool(
    name: "preview", title: "Try changes",
    summary: """
      What changes would do, by all rules of the model: everything that would be inserted, changed and deleted, or the rules that are \
      broken. Nothing is written.
      """,
    parameters: [changes], result: outcome, requiredInResult: 4
  ) { arguments, store in
    let list = try RequestedChanges(arguments["changes"])
    let container = try StoreOperand(store.path).container(readOnly: true)
    defer { container.close() }
    return try explaining(container) {
      var broken: [String]
      var report = "[]"
      do {
        let change = try StoreChange(in: container, isWritten: false) { try list.apply(to: $0, since: $1) }
        broken = change.brokenRules
        report = change.report.json
      } catch let error as ValidationError {
        broken = error.failures.map { "\($0)" }
      }
      return JSONText.object([
        noteText, ("isValid", "\(broken.isEmpty)"), ("changes", report),
        ("brokenRules", JSONText.list(broken.map(JSONText.quoted))),
      ])
    }
  }

  static let change = StoreTool(
    name: "change", title: "Change the store",
    summary: """
      Makes changes in one transaction, under all rules of the model: all of them, or none. It takes what preview takes. The result has \
      the save, which names the transaction in the history, and the new versions of the objects.
      """,
    parameters: [changes],
    result: [
      note, ("written", schema("boolean", "Whether something was written. False if nothing changes.")),
      ("changes", schema("array", "What has happened to each object.")),
      ("versions", schema("object", "The new versions by object.")),
      (
        "save",
        #"{ "type": ["string", "null"], "description": "Names the transaction in the history; null without a history." }"#
      ),
    ], requiredInResult: 5, effect: .changes
  ) { arguments, store in
    let list = try RequestedChanges(arguments["changes"])
    let container = try StoreOperand(store.path).container(readOnly: false)
    defer { container.close() }
    return try explaining(container) {
      try written(container, isWritten: true, author: store.author) { try list.apply(to: $0, since: $1) }
    }
  }

  /// Makes a change and tells what it did, and the save that it is.
  static func written(
    _ container: PersistentContainer, isWritten: Bool, keepsKeys: Bool = false, author: String,
    _ body: (_ draft: ManagedObjectContext, _ base: ManagedObjectContext) throws -> [DynamicObject]
  ) throws -> String {
    // A store without a history has no token.
    let before = try? container.historyToken()
    let change = try StoreChange(in: container, isWritten: isWritten, keepsKeys: keepsKeys, author: author, body)
    guard change.brokenRules.isEmpty else { throw BrokenRules(rules: change.brokenRules) }
    let hasWritten = isWritten && !change.report.isEmpty
    // What is written stays written, also if the call comes to its end here.
    let saves = before.flatMap { before in hasWritten ? try? container.history(since: before) : nil }
    let save = saves?.last(where: \.isOwn)?.token.description
    return JSONText.object([
      noteText, ("written", "\(hasWritten)"), ("changes", change.report.json),
      ("versions", JSONText.object(change.versions.map { ("\($0.name)", "\($0.version)") })),
      ("save", save.map(JSONText.quoted) ?? "null"),
    ])
  }

  /// Runs a change, and says of a conflict what others have changed.
  private static func explaining<Result>(_ container: PersistentContainer, _ body: () throws -> Result) throws -> Result
  {
    do {
      return try body()
    } catch let error as OutdatedObject {
      let saves = try? container.newestSaves(200)
      let changes = (saves ?? []).reversed().flatMap { save in
        save.changes.filter { "\($0.id)" == "\(error.name)" }.map { change in
          "\(change)\(save.author.map { " by \($0)" } ?? "") in save \(save.token)"
        }
      }
      let known = changes.prefix(max(0, Int(clamping: error.present) - error.read))
      throw ToolFailure(
        .failure,
        "error: \(error.name) was changed since it was read: its version was \(error.read), and is \(error.present). Nothing was written. "
          + "Read it again, and make the change with its new _version. [conflict]\n"
          + known.map { "since then: \($0)\n" }.joined())
    } catch let error as SaveConflict {
      let rows = error.rows.map { row in
        "\(row)" + (row.properties.isEmpty ? "" : " (\(row.properties.joined(separator: ", ")))")
      }
      throw ToolFailure(
        .failure,
        "error: Another program has saved \(rows.joined(separator: ", ")) at the same time. Nothing was written. Read again, and make "
          + "the change with the new _version. [conflict]")
    }
  }
}
