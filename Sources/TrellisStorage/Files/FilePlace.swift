/// A file's path, and the paths beside it that derive from its name.
///
/// The derived names are fixed, so a crash leaves at most one file of each, which the next writer removes or takes
/// over.
package struct FilePlace: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  package var folder: String { lastSeparator.map { String(path[...$0]) } ?? "." }
  /// The path where new content is written before it is renamed to the file's name.
  package var temporaryPath: String { beside(".new") }
  /// The path of the lock that a writer of the file holds.
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
