/// A file's place, and the names beside it that are made from its own.
///
/// As the names are fixed, a crash leaves at most one file of each, which the next one to write the file removes or takes over.
package struct FilePlace: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  package var folder: String { lastSeparator.map { String(path[...$0]) } ?? "." }
  /// Where the next content is written before it takes the file's name.
  package var temporaryPath: String { beside(".new") }
  /// What the one who writes the file holds.
  package var lockPath: String { beside(".lock") }

  private func beside(_ ending: String) -> String {
    guard let lastSeparator else { return ".\(path)\(ending)" }
    return path[...lastSeparator] + "." + path[path.index(after: lastSeparator)...] + ending
  }

  private var lastSeparator: String.Index? {
    #if os(Windows)
      path.lastIndex { $0 == "/" || $0 == "\\" }
    #else
      path.lastIndex(of: "/")
    #endif
  }
}
