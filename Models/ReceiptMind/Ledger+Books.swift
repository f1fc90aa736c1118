public import Foundation
public import Trellis

extension Ledger {
  /// Makes a ledger with the categories that both kinds offer.
  public static func open(_ name: String, in context: ManagedObjectContext) -> Ledger {
    let ledger = Ledger(in: context, name: name)
    for kind in Kind.allCases {
      for option in kind.options {
        ledger.categories.append(Category(in: context, kind: kind, name: option.name, icon: option.icon))
      }
    }
    return ledger
  }

  /// The categories for receipts of a kind, in the order in which a form shows them.
  public func categories(for kind: Kind) -> [Category] { categories.filter { $0.kind == kind } }

  /// The categories of all kinds, as readers of a language expect them.
  ///
  /// - Throws: ``StoreError`` when the store fails.
  public func categories(inOrderOf locale: Locale) throws -> [Category] {
    try managedObjectContext?.fetch(
      Category.where { $0.ledger.is(self) }.sorted {
        $0.name.localized(in: locale)
        $0.kind
      }) ?? []
  }
}
