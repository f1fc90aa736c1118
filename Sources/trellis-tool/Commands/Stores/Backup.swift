import TrellisStorage

/// `trellis backup`: a copy of a store as it is at one moment, while programs use it.
enum Backup {
  static func run(_ path: String, to copy: String, replaces: Bool) throws(ToolFailure) -> ExitStatus {
    guard ServerPlace(copy) == nil else {
      throw ToolFailure(.failure, "error: backup makes a file. trellis copy makes a store on a server.")
    }
    let file = try StoreOperand(path)
    if case .server(let place) = file.kind {
      throw ToolFailure(
        .failure,
        "error: backup copies files. pg_dump copies \(place.name), and trellis copy makes a file of its objects.")
    }
    let store = try file.store(readOnly: true)
    defer { store.close() }
    do { try store.backUp(to: copy, replacing: replaces) } catch { throw ToolFailure(store: error, path) }
    return .success
  }
}

// MARK: - Command

extension Backup {
  static let command = Command(
    operands: "STORE COPY", needed: "a STORE and the name of its COPY", count: 2...2,
    options: [.init(name: "replace", value: nil, summary: "replace an existing file")],
    summary: "copy a store while programs use it",
    details: """
      The copy shows the store at one moment. External data is copied with it. Exit 0 if the copy is complete; otherwise
      nothing is left of it.
      """
  ) { arguments throws(ToolFailure) in
    try run(arguments.operands[0], to: arguments.operands[1], replaces: arguments.has("replace"))
  }
}
