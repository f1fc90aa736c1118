// Spellings of other frameworks for containers. None is ever called: each message names the spelling here.

extension PersistentContainer {
  @available(*, unavailable, renamed: "mainContext")
  @MainActor public var viewContext: ManagedObjectContext { mainContext }

  @available(*, unavailable, renamed: "newContext()")
  public func newBackgroundContext() -> ManagedObjectContext { newContext() }

  @available(*, unavailable, message: "write try await container.perform { context in … }")
  public func performBackgroundTask(_ body: @escaping (ManagedObjectContext) -> Void) {}

  @available(*, unavailable, message: "PersistentContainer(model:store:) opens the store")
  public func loadPersistentStores(completionHandler: (Any, (any Error)?) -> Void) {}
}
