import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// `trellis history`: the saves of a store, those of one object with its values, or one save.
struct History {
  private let container: PersistentContainer
  private let options: ParsedArguments
  private let limit: Int

  /// The number of saves that are listed without `--limit`.
  private static let usualLimit = 50

  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let path = arguments.operands[0]
    let subject = arguments.operands.count > 1 ? arguments.operands[1] : nil
    let name = subject.flatMap { ObjectName($0) }
    let save =
      try name == nil ? subject.map { text throws(ToolFailure) in try MomentArgument(text, of: .history) } : nil
    let since = try MomentArgument.option("since", arguments, of: .history)
    let limit = try arguments.count("limit", of: .history)
    let container = try StoreOperand(path).container(readOnly: true)
    defer { container.close() }
    try ToolFailure.catching(path) {
      let history = History(container: container, options: arguments, limit: limit ?? usualLimit)
      if let name {
        try history.printVersions(of: name, since: since?.token(in: container))
      } else if let save {
        try history.printSave(save.save(in: container))
      } else {
        try history.printSaves(since: since?.token(in: container))
      }
    }
    return .success
  }

  private var isJSON: Bool { options.has("json") }

  /// The last saves that match the options, the newest first.
  private func saves(
    since start: HistoryToken?, where isShown: (HistoryTransaction) -> Bool = { _ in true }
  ) throws -> [HistoryTransaction] {
    var found: [HistoryTransaction] = []
    let author = options.value(of: "by")
    try container.forEachTransaction(since: start, until: nil) { save in
      guard author == nil || save.author == author, isShown(save) else { return }
      found.append(save)
      // Cut now and then, so that a long history does not fill the memory.
      if found.count >= 2 * max(limit, 500) { found.removeFirst(found.count - limit) }
    }
    return found.suffix(limit).reversed()
  }

  // MARK: Saves

  private func printSaves(since start: HistoryToken?) throws {
    let saves = try saves(since: start).map(SaveText.init)
    if isJSON { return Console.print(JSONText.lines(saves.map(\.json))) }
    if saves.isEmpty { return Console.print("no saves\n") }
    Console.print(TextTable([SaveText.titles] + saves.map(\.cells), numbers: SaveText.numbers).text)
  }

  private func printSave(_ save: HistoryTransaction) throws {
    var differences: [DifferenceText] = []
    try container.differences(since: container.historyToken(before: save), until: save.token) {
      differences.append(DifferenceText($0, container.model))
    }
    let text = SaveText(save)
    if isJSON {
      let changes = JSONText.list(differences.map(\.json))
      return Console.print(JSONText.object(text.members + [("changes", changes)]) + "\n")
    }
    Console.print(TextTable([SaveText.titles, text.cells], numbers: SaveText.numbers).text)
    for difference in differences { Console.print(difference.text) }
  }

  // MARK: Versions of an object

  private func printVersions(of name: ObjectName, since start: HistoryToken?) throws {
    let entity = try container.model.needEntity(name.entity)
    let saves = try saves(since: start) { save in
      save.changes.contains { $0.id.key == name.key && entity.isInHierarchy(of: $0.id.entity, container.model) }
    }
    if saves.isEmpty {
      throw ToolFailure(.failure, "error: The history lists no save that changed \(name).")
    }
    var objects: [String] = []
    for save in saves {
      let text = SaveText(save)
      guard let difference = try difference(name.key, entity, by: save) else {
        objects.append(isJSON ? JSONText.object(text.members) : text.line("the values are not kept"))
        continue
      }
      let shown = DifferenceText(difference, container.model)
      objects.append(
        isJSON ? JSONText.object(text.members + shown.members) : text.line(difference.kind.rawValue) + shown.lines)
    }
    Console.print(isJSON ? JSONText.lines(objects) : objects.joined())
  }

  /// Nil if the values of that time are not kept.
  private func difference(_ key: Int64, _ entity: Entity, by save: HistoryTransaction) throws -> ObjectDifference? {
    do {
      return try container.difference(
        of: key, entity, since: container.historyToken(before: save), until: save.token)
    } catch let error as StoreError where error.code == .historyExpired || error.code == .unsupported {
      return nil
    }
  }
}

extension Entity {
  /// Whether the entity and one with a name have the same root.
  fileprivate func isInHierarchy(of name: String, _ model: Model) -> Bool { model.entity(named: name)?.root == root }
}

// MARK: - Command

extension Command.Option {
  static let since = Command.Option(name: "since", value: "MOMENT", summary: "only what was saved after a moment")
  static let by = Command.Option(name: "by", value: "AUTHOR", summary: "only saves of this author")
}

extension Command {
  static let moments = """
    A MOMENT is after a save, given by its number or its token, or at a date such as 2026-01-31 or
    2026-01-31T09:30:00Z; or now.
    """
}

extension History {
  static let command = Command(
    operands: "STORE [OBJECT | SAVE]", needed: "a STORE", count: 1...2,
    options: [
      .since, .by, Command.Option(name: "limit", value: "N", summary: "print the last N saves at most"), .json,
    ],
    summary: "list the saves of a store, or what they did to an object",
    details: """
      The newest save comes first. With an OBJECT, such as Tag#7, those that changed it are listed with its former and
      its new values. With the number of a SAVE, all that it changed is. The model needs "history", and "values" for values.
      The store is only read.

      """ + Command.moments
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
