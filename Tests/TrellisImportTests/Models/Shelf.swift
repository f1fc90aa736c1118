import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

/// A store of the library, and documents for it.
struct Shelf {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init(_ store: StoreConfiguration = .memory) throws {
    container = try PersistentContainer(model: .library, store: store, log: nil)
    context = container.newContext()
  }

  @discardableResult func take(
    _ json: String, at path: String? = nil, layout: JSONLayout = .document, _ policy: MergePolicy = .objectTrump,
    rejecting: JSONRejection = .objects
  ) throws -> JSONImportReport {
    try context.importJSON(
      Author.self, from: Data(json.utf8), at: path, layout: layout, mergePolicy: policy, rejecting: rejecting)
  }

  func author(_ number: Int64) throws -> Author {
    try #require(try context.first(Author.where { $0.number == number }))
  }

  /// All that the store has, by keys of the documents, so that stores can be compared.
  func picture() throws -> [String] {
    let context = container.newContext()
    var lines: [String] = []
    for author in try context.fetch(Author.all.sorted { $0.number }) {
      lines.append(
        "author \(author.number) \(author.fullName) \(author.born as Any) \(author.seen as Any) \(author.email as Any)"
          + " \(author.labels) \(author.scores) \(author.rating as Any) \(author.first as Any) \(author.genre as Any)"
          + " \(author.active) \(author.fee as Any) \(author.site as Any) \(author.token as Any) \(author.photo as Any)"
          + " \(author.motto as Any) mentor \(author.mentor?.number as Any)"
          + " friends \(author.friends.map(\.number).sorted()) works \(author.works.map(\.isbn))"
          + " address \(author.address.map { "\($0.street), \($0.town as Any)" } as Any)"
          + " phones \(author.phones.map { "\($0.kind)=\($0.digits)" }.sorted())")
    }
    for work in try context.fetch(Work.all.sorted { $0.isbn }) {
      let pages = (work as? Book)?.pages.map(Int.init) ?? (work as? Poem)?.lines.map(Int.init)
      lines.append(
        "\(type(of: work)) \(work.isbn) \(work.title) \(work.authorNumber as Any) \(pages as Any)"
          + " \(work.publisher?.slug as Any)")
    }
    for publisher in try context.fetch(Publisher.all.sorted { $0.slug }) {
      lines.append("publisher \(publisher.slug) \(publisher.town as Any) \(publisher.imprints.map(\.slug).sorted())")
    }
    lines.append("\(try context.count(Address.all)) addresses, \(try context.count(Phone.all)) phones")
    return lines
  }
}
