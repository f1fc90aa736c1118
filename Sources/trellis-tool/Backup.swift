import TrellisStorage

/// `trellis backup`: a copy of a store as it is at one moment, while programs use it.
enum Backup {
  static func run(_ path: String, to copy: String, replaces: Bool) throws(ToolFailure) -> ExitStatus {
    let file = try StoreFile(path)
    let store = try file.store(readOnly: true)
    defer { store.close() }
    do { try store.backUp(to: copy, replacing: replaces) } catch { throw ToolFailure(store: error, path) }
    return .success
  }
}
