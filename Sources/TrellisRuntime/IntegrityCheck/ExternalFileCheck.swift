import TrellisStorage

/// Reads the files in which the data of a page's rows lies, and says which are missing or hold something else.
struct ExternalFileCheck {
  let check: GraphCheck
  let page: RowPage

  func run() throws {
    for (key, property, file) in page.files {
      do {
        try file.origin?.check(file)
      } catch let error as StoreError {
        try check.note(
          StoreFinding(
            .externalFile, error.message, repair: error.remedy, entity: page.entity.name, key: key,
            properties: [property]))
      }
    }
  }
}
