package import TrellisSchema

extension MemoryState {
  /// The external contents that rows refer to.
  ///
  /// - Complexity: linear in the number of rows of entities with external storage.
  package func externalContents(_ model: Model) -> Set<ContentDigest> {
    var contents: Set<ContentDigest> = []
    for entity in model.entities {
      let columns = entity.columns.indices.filter { entity.isExternal(entity.columns[$0]) }
      guard !columns.isEmpty else { continue }
      tables[entity.root].forEach { _, row in
        guard row.entity == entity.index else { return true }
        for column in columns { if case .file(let file) = row.value(column) { contents.insert(file.digest) } }
        return true
      }
    }
    return contents
  }
}
