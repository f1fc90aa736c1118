import Foundation
public import Trellis
public import Workload

/// Opens a store and fetches one object; or makes the store that all participants open.
///
/// - Parameters:
///   - model: is made when the store is opened, which is part of the work.
///   - insert: makes the only object.
///   - sum: reads its values.
public func firstFetch<Columns: EntityColumns>(
  _ workload: Workload, model: @autoclosure () -> ObjectModel, _ request: FetchRequest<Columns>,
  insert: (ManagedObjectContext) -> Columns.Object, sum: (Columns.Object) -> Int
) throws {
  let settings = Settings()
  let file = URL(fileURLWithPath: settings.path(workload.rawValue, isNew: !settings.isReopening))
  let store = StoreConfiguration.sqlite(at: file, durability: .relaxed)
  if settings.isReopening {
    try Report.run(workload, as: "trellis", settings) {
      let context = try PersistentContainer(model: model(), store: store).newContext()
      return try context.first(request).map(sum) ?? 0
    }
  } else {
    let container = try PersistentContainer(model: model(), store: store)
    let context = container.newContext()
    _ = insert(context)
    try context.save()
    container.close()
  }
}
