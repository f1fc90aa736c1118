#if canImport(UIKit) && !os(watchOS)
  public import Trellis
  public import UIKit
#elseif canImport(AppKit)
  public import AppKit
  public import Trellis
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
  extension LiveListUpdate {
    /// What the list shows, for a diffable data source whose items are the objects' identifiers, and whose sections are those
    /// of the list. The cells of the objects that have changed are brought up to date.
    ///
    /// ```swift
    /// await entries.follow { update in await dataSource.apply(update.snapshot()) }
    /// ```
    /// - Complexity: linear in the number of objects that are shown.
    public func snapshot()
      -> NSDiffableDataSourceSnapshot<LiveListSection<Columns, SectionValue>.ID, ObjectID<Columns.Object>>
    {
      var snapshot = NSDiffableDataSourceSnapshot<
        LiveListSection<Columns, SectionValue>.ID, ObjectID<Columns.Object>
      >()
      snapshot.appendSections(list.sections.map(\.id))
      for section in list.sections { snapshot.appendItems(section.ids, toSection: section.id) }
      snapshot.refresh(updated)
      return snapshot
    }

    /// What the list shows, in one section, for a diffable data source whose items are the objects' identifiers. The cells of
    /// the objects that have changed are brought up to date.
    ///
    /// - Parameter section: The section of all objects.
    /// - Complexity: linear in the number of objects that are shown.
    public func snapshot<Section: Hashable & Sendable>(
      in section: Section
    ) -> NSDiffableDataSourceSnapshot<Section, ObjectID<Columns.Object>> {
      var snapshot = NSDiffableDataSourceSnapshot<Section, ObjectID<Columns.Object>>()
      snapshot.appendSections([section])
      snapshot.appendItems(list.ids, toSection: section)
      snapshot.refresh(updated)
      return snapshot
    }
  }

  extension NSDiffableDataSourceSnapshot {
    fileprivate mutating func refresh(_ items: [ItemIdentifierType]) {
      guard !items.isEmpty else { return }
      #if canImport(UIKit)
        reconfigureItems(items)
      #else
        reloadItems(items)
      #endif
    }
  }
#endif
