import TrellisStorage

/// Reads the files with the external data of a page's rows, and reports those that are missing or have different
/// content.
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
