import Trellis

extension Item {
  /// Gives an item what this version of the model knows.
  func complete() throws {
    weight = Int64(key.utf8.count)
    state = "complete"
    guard let context = managedObjectContext, key.hasSuffix("7") else { return }
    _ = Review(in: context, stars: 5, item: self)
    // Programs of version 1 cannot delete this one any more. With unsaved reviews, the condition would be tested for all
    // rows in memory, if it were not for what is stored only.
    let former = Item.where { $0.key >= "v1-" && $0.key < "v1." && $0.reviews.isEmpty }.storedOnly()
    if let item = try context.first(former) { _ = Review(in: context, stars: 1, item: item) }
  }
}
