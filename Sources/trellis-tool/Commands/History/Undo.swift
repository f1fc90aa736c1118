import TrellisRuntime
import TrellisTimeTravel

/// `trellis undo`: saves that are taken back.
enum Undo {
  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    var moments: [MomentArgument] = []
    for text in arguments.operands.dropFirst() { moments.append(try MomentArgument(text, of: .undo)) }
    let since = try MomentArgument.option("since", arguments, of: .undo)
    let author = arguments.value(of: "by")
    if moments.isEmpty && since == nil && author == nil {
      throw .usage("undo needs a SAVE, --since or --by.", of: .undo)
    }
    return try StoreChange.run(arguments.operands[0], isWritten: arguments.has("write"), keepsKeys: true) {
      [moments] container, context in
      var saves: [HistoryTransaction] = []
      for moment in moments {
        let save = try moment.save(in: container)
        if !saves.contains(where: { $0.token == save.token }) { saves.append(save) }
      }
      if moments.isEmpty {
        try container.forEachTransaction(since: since?.token(in: container), until: nil) { save in
          if author == nil || save.author == author { saves.append(save) }
        }
      }
      try container.undo(saves, in: context)
      return []
    }
  }
}

// MARK: - Command

extension Undo {
  static let command = Command(
    operands: "STORE [SAVE...]", needed: "a STORE", count: 1...Int.max,
    options: [.since, .by, .write],
    summary: "take back past saves, where nothing was built on them",
    details: """
      A SAVE is its number, which history lists, or its token. Without any, the saves since a moment or of an author are
      undone, the newest first. An undone save leaves its objects and properties as before it. Where they are not as it
      left them, because later saves changed them, each conflict is printed and nothing is undone. Deleted objects come
      back with their keys. The model needs "history": "values".

      """ + Command.moments + "\n\n" + Command.changes
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
