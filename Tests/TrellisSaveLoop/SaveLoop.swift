import Trellis

/// One who saves to a store that others save to as well. Each save raises a counter of its own and one that all share, adds a
/// parent with two children, and takes the parent of fifty saves ago along with its own: all of that is there, or nothing.
struct SaveLoop {
  /// How many parents a writer keeps.
  static let kept: Int64 = 50
  /// The counter that all writers raise.
  static let shared = "all"

  let writer: String
  let context: ManagedObjectContext
  /// The greatest number of characters in a child; each save has another length.
  var longestFiller: Int64 = 97

  /// - Returns: how often this writer has saved, this time included.
  func save() throws -> Int64 {
    context.author = writer
    return try context.saveRetrying(atMost: .max) {
      let number = try raise(writer)
      _ = try raise(Self.shared)
      let parent = Parent(in: context, writer: writer, number: number)
      let filler = String(repeating: "x", count: Int(number % longestFiller))
      for _ in 0..<2 { _ = Child(in: context, filler: filler, parent: parent) }
      let last = number - Self.kept
      if let old = try context.first(Parent.where { $0.writer == writer && $0.number == last }) {
        try context.delete(old)
      }
      return number
    }
  }

  private func raise(_ name: String) throws -> Int64 {
    let counter = try context.first(Counter.where { $0.name == name }) ?? Counter(in: context, name: name)
    counter.value += 1
    return counter.value
  }
}

extension Error {
  /// Whether the store was suspended, also while the saves of others were merged.
  var isOfSuspension: Bool {
    ((self as? StoreError) ?? (self as? ContextError)?.cause as? StoreError)?.code == .suspended
  }
}
