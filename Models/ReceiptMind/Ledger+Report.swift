public import Foundation
public import Trellis

extension Ledger {
  /// What was earned or spent in one month, in one category and one currency.
  public struct Sum: Hashable, Sendable {
    /// The month, with its start and end.
    public let month: DatePeriod
    /// The name of the category; nil for receipts without one.
    public let category: String?
    /// The amount of all receipts together.
    public let total: Money
    /// The number of receipts.
    public let count: Int
  }

  /// The sums of a kind by month, category and currency, in this order. The store computes them; no receipts are loaded.
  ///
  /// - Parameter calendar: The calendar that the months are of.
  /// - Throws: ``StoreError`` when the store fails.
  public func sums(of kind: Kind, in calendar: Calendar = .current) throws -> [Sum] {
    guard let context = managedObjectContext else { return [] }
    let groups = try context.grouped(
      Receipt.where { $0.ledger.is(self) && $0.kind == kind },
      by: { ($0.date.month(in: calendar), $0.category.name.optional, $0.price.currency) }
    ) {
      ($0.count, $0.price.amount.sum)
    }
    return groups.map { group in
      let (month, category, currency) = group.key
      let (count, amount) = group.value
      return Sum(month: month, category: category, total: Money(amount: amount, currency: currency), count: count)
    }
  }

  /// The months with receipts, the newest first, each with its totals.
  ///
  /// - Throws: ``StoreError`` when the store fails.
  public func newestMonths() throws -> [Month] {
    try managedObjectContext?.fetch(
      Month.where { $0.ledger.is(self) && $0.receiptCount > 0 }.sorted { $0.start.descending }) ?? []
  }
}

extension Receipt {
  /// The calendar that decides in which month a receipt is, the same for all programs that open the ledger.
  static let books: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Asia/Seoul") ?? .gmt
    return calendar
  }()

  /// Puts the receipt into the month of its date, which is made with its first receipt.
  static func willSave(_ receipt: Receipt) throws {
    guard let context = receipt.managedObjectContext, let ledger = receipt.ledger,
      let start = books.dateInterval(of: .month, for: receipt.date)?.start
    else { return }
    if let month = receipt.month, month.start == start, month.ledger == ledger { return }
    receipt.month =
      try context.first(Month.where { $0.ledger.is(ledger) && $0.start == start })
      ?? Month(in: context, start: start, ledger: ledger)
  }
}
