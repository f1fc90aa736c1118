import Foundation
import Trellis
import TrellisFoundationPredicates

/// A few works, and what a predicate finds among them in three ways: by the store, with unsaved changes, and by Foundation.
struct Shelf {
  let container: PersistentContainer
  let context: ManagedObjectContext

  init(saved: Bool = true) throws {
    container = try PersistentContainer(model: .press, store: .memory)
    context = container.newContext()
    let master = Writer(in: context, name: "Éluard", born: 1895)
    let pupil = Writer(in: context, name: "Kim", mentor: master)
    _ = Writer(in: context, name: "nobody")
    let works = [
      Work(
        in: context, title: "Café", genre: .poem, pages: 12, price: 3.5, weight: 0.1, isOut: true, code: Self.code(1),
        begun: Date(timeIntervalSince1970: 0), author: master),
      Work(
        in: context, title: "산책", subtitle: "", genre: .essay, pages: 120, stars: 4, price: 20, weight: 0.5,
        isOut: false,
        code: Self.code(2), begun: Date(timeIntervalSince1970: 86_400), author: pupil),
      Series(
        in: context, title: "cafés", subtitle: "of Paris", genre: .novel, pages: 900, stars: 2, price: 99, weight: 2,
        isOut: true, code: Self.code(3), begun: Date(timeIntervalSince1970: 200_000), volumes: 3),
    ]
    for (number, points) in [1, 5, 5, 3].enumerated() {
      _ = Review(in: context, text: "review \(number)", points: Int64(points), work: works[number / 2])
    }
    if saved { try context.save() }
  }

  private static func code(_ number: UInt8) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
  }

  /// The titles of what a predicate finds, when both the store and the context's memory find the same as Foundation does.
  func titles(_ predicate: Predicate<Work>) throws -> [String] {
    let found = try context.fetch(Work.all.where(predicate)).map(\.title)
    let evaluated = try context.fetch(Work.all).filter { try predicate.evaluate($0) }.map(\.title)
    let unsaved = try Shelf(saved: false)
    let pending = try unsaved.context.fetch(Work.all.where(predicate)).map(\.title)
    return found == evaluated && pending == evaluated
      ? found : ["store: \(found), memory: \(pending), Foundation: \(evaluated)"]
  }

  func names(_ predicate: Predicate<Writer>) throws -> [String] {
    let found = try context.fetch(Writer.all.where(predicate)).map(\.name)
    let evaluated = try context.fetch(Writer.all).filter { try predicate.evaluate($0) }.map(\.name)
    return found == evaluated ? found : ["store: \(found), Foundation: \(evaluated)"]
  }
}
