/// The part of AppKit's type that `TrellisUI` uses. It refuses what AppKit raises an exception for.
public struct NSDiffableDataSourceSnapshot<SectionIdentifierType, ItemIdentifierType>
where SectionIdentifierType: Hashable & Sendable, ItemIdentifierType: Hashable & Sendable {
  private var sections: [(id: SectionIdentifierType, items: [ItemIdentifierType])] = []
  /// Only for tests: AppKit does not tell.
  public private(set) var reloadedItemIdentifiers: [ItemIdentifierType] = []

  public init() {}

  public var sectionIdentifiers: [SectionIdentifierType] { sections.map(\.id) }
  public var itemIdentifiers: [ItemIdentifierType] { sections.flatMap(\.items) }
  public var numberOfItems: Int { itemIdentifiers.count }
  public var numberOfSections: Int { sections.count }

  public func itemIdentifiers(inSection identifier: SectionIdentifierType) -> [ItemIdentifierType] {
    sections.first { $0.id == identifier }?.items ?? []
  }

  public mutating func appendSections(_ identifiers: [SectionIdentifierType]) {
    precondition(Set(identifiers).count == identifiers.count, "a section twice")
    precondition(Set(identifiers).isDisjoint(with: sectionIdentifiers), "a section twice")
    sections += identifiers.map { ($0, []) }
  }

  public mutating func appendItems(
    _ identifiers: [ItemIdentifierType], toSection sectionIdentifier: SectionIdentifierType? = nil
  ) {
    guard let place = sectionIdentifier.map({ id in sections.firstIndex { $0.id == id } }) ?? sections.indices.last
    else {
      preconditionFailure("no such section")
    }
    precondition(Set(identifiers).count == identifiers.count, "an item twice")
    precondition(Set(identifiers).isDisjoint(with: itemIdentifiers), "an item twice")
    sections[place].items += identifiers
  }

  public mutating func reloadItems(_ identifiers: [ItemIdentifierType]) {
    precondition(Set(identifiers).isSubset(of: itemIdentifiers), "an item that is not there")
    reloadedItemIdentifiers += identifiers
  }
}
