// Opens a store with a model of 200 entities and fetches one object. With `create`, makes the store that all participants open.
import Foundation
import Trellis
import WideModel
import Workload

let settings = Settings()
let file = URL(fileURLWithPath: settings.databasePath("first.db"))

if settings.isReopening {
  try Report("trellis", settings).run("firstFetch", items: 1) {
    let container = try PersistentContainer(model: .wide, store: .sqlite(at: file, durability: .relaxed))
    guard let object = try container.newContext().first(Entity100.all) else { return 0 }
    return object.title.utf8.count + Int(object.amount) + Int(object.weight) + (object.isDone ? 1 : 0)
  }
} else {
  let container = try PersistentContainer(model: .wide, store: .sqlite(at: file, durability: .relaxed))
  let context = container.newContext()
  _ = Entity100(in: context, title: "the only object", amount: 100, weight: 7)
  try context.save()
}
