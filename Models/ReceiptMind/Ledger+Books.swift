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

  /// What came in less what went out.
  ///
  /// - Complexity: linear in the number of receipts, which are loaded.
  public var balance: Decimal { receipts.reduce(0) { $0 + $1.signedAmount } }
}
