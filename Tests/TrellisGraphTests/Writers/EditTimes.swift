import Trellis

/// The versions of the store at which a context's values have been edited.
struct EditTimes {
  private var versions: [Int: [String: Int]] = [:]

  /// - Parameter version: The present version of the store.
  mutating func note(editsOf writer: Writer, at version: Int) {
    let former = versions
    versions = [:]
    for object in writer.context.updatedObjects {
      let number = writer.number(of: object)
      let edited = object.changedProperties.map { ($0, former[number]?[$0] ?? version) }
      versions[number] = Dictionary(edited, uniquingKeysWith: min)
    }
  }

  /// Forgets the edits of an object that was refreshed: they are edits of the present version from now on.
  mutating func forget(_ number: Int) { versions[number] = nil }

  /// The version of the store at which an unsaved value was edited first.
  subscript(number: Int, property: String) -> Int? { versions[number]?[property] }
}
