import TrellisStorage

/// A set of objects in memory. A context has one object for each identity, tracks the changes and saves them.
///
/// A context is not Sendable: the context and its objects stay in the isolation domain that it was created in. A
/// container creates contexts:
///
/// ```swift
/// let context = container.newContext()
/// let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
/// try context.save()
/// ```
/// Fetches, saves and lazy loads are synchronous. For work outside of the main actor use
/// ``PersistentContainer/perform(_:)``.
public final class ManagedObjectContext {
  let core: ContainerCore
  /// The parent of a child context. Nil for a context that saves to the store.
  public let parent: ManagedObjectContext?
  let runtime: RuntimeModel
  let link = ContextLink()
  // `@exclusivity(unchecked)` as in ManagedObject, and sound for the same reason: accesses are instantaneous and
  // confined.
  @exclusivity(unchecked) var map = IdentityMap()
  /// The changes since the last save.
  @exclusivity(unchecked) var pending = PendingChanges()
  /// The maximum number of members that a cascade loads instead of leaving them to the store. A few members are deleted
  /// faster than the objects in memory are searched for members.
  package var fewMembers = 1000
  /// The recorder of changes. Nil unless changes may have to be taken back.
  @exclusivity(unchecked) private(set) var recorder: ChangeRecorder?
  /// The properties that were read while the properties of a key path are determined.
  var probed: [Int] = []
  /// The running hooks. Each was called from within the one before.
  var runningHooks: ContiguousArray<RunningHook> = []
  /// The keys of the objects that are being deleted. Noted only where a hook could delete an object again.
  var leaving: Set<Int64> = []
  /// The class of the last created object, known to belong to the model.
  @exclusivity(unchecked) var lastClass: ObjectIdentifier?
  /// The relationships in join tables that the context has ever had a list of.
  var listed: Set<RelationshipNumber> = []
  /// The number of saves of the context.
  var saveCount = 0
  /// Changes by other contexts to objects that are changed here.
  @exclusivity(unchecked) var backlog = MergeBacklog()
  /// Whether to-many relationships may have been reordered before their members in the store were loaded.
  var hasArrangements = false
  @exclusivity(unchecked) var batches = FetchBatches()
  @exclusivity(unchecked) var sweeper = Sweeper()
  /// The rule for the use of relationships that were not loaded with their object. By default they are loaded without a
  /// report. A request may have a stricter rule for its own results.
  public var lazyLoading = LazyLoading.allowed
  /// The policy for conflicts with other contexts that have written the same objects. By default a save throws.
  public var mergePolicy = MergePolicy.error
  /// Whether a request is being evaluated in memory. Lazy loads are then not caused by the caller.
  var isEvaluating = false
  /// The error of a load that failed where it could not be thrown. The next fetch or save throws it.
  var pendingFailure: ContextError?
  /// The number of loads that failed where no error could be thrown.
  private(set) var failedLoads = 0
  let inbox: ContextInbox
  /// The observers of objects through Swift's Observation. Nil while the context is not observing.
  @exclusivity(unchecked) var observation: ContextObservation?
  /// The name of the context in the notices that other contexts receive of its saves.
  public var author: String?
  /// The requests whose results are kept up to date.
  var liveResults: [LiveResultsReference] = []
  /// Whether reads show one moment of the store, unaffected by the saves of other contexts.
  var isPinned = false
  /// The history of changes that can be undone, step by step. Disabled by default.
  public let undo: UndoHistory

  private var keys: Range<Int64> = 0..<0
  private var keyBlock: Int64 = 1
  private(set) var openConnection: (any StoreConnection)?

  init(core: ContainerCore, parent: ManagedObjectContext? = nil) {
    self.core = core
    self.parent = parent
    runtime = core.runtime
    inbox = core.hub.makeInbox()
    undo = UndoHistory(link)
    link.context = self
  }

  deinit {
    core.hub.close(inbox)
    link.context = nil
    link.remains = ContextRemains(runtime: runtime, report: core.errorHandler)
    // Objects that are still referenced keep their loaded values; unloaded values read as placeholders, writes are
    // ignored.
    map.forEach { $0.state.becomeReadOnly() }
  }

  func info(of object: ManagedObject) -> EntityInfo { runtime.entities[type(of: object)._entity] }

  /// The connection to the store, opened when it is first needed.
  func connection() throws -> any StoreConnection {
    if let openConnection {
      do { try core.checkOpen() } catch {
        self.openConnection = nil
        throw error
      }
      return openConnection
    }
    let made = try parent.map { ParentConnection($0, for: link) } ?? core.connect()
    openConnection = made
    return made
  }

  // MARK: Recording

  /// Starts to record changes, or stops if the recorder is nil.
  func record(with recorder: ChangeRecorder?) { self.recorder = recorder }

  /// Records changes temporarily, with the present recorder if there is one.
  ///
  /// - Returns: the recorder, and a function that ends the recording if this call has started it.
  func beginRecording() -> (recorder: ChangeRecorder, end: () -> Void) {
    if let recorder { return (recorder, {}) }
    let made = ChangeRecorder(self)
    recorder = made
    return (made, { self.recorder = nil })
  }

  /// Makes changes that belong to no undo step and are not taken back by one.
  func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    let recorder = recorder
    self.recorder = nil
    defer { self.recorder = recorder }
    return try body()
  }

  // MARK: What objects call

  /// Returns a key for a new object, from a block of keys that is reserved for the context.
  func takeKey() -> Int64 {
    if keys.isEmpty {
      keys = core.keys.takeBlock(keyBlock) { report($0) }
      keyBlock = min(keyBlock * 2, 1024)
    }
    let key = keys.lowerBound
    keys = (key + 1)..<keys.upperBound
    return key
  }

  func registerInserted(_ object: ManagedObject) {
    map.insert(object, for: object._key)
    if observation != nil { object.state.setObserved(true) }
    pending.addInserted(object)
  }

  /// Notes that a saved object was written to.
  func noteChanged(_ object: ManagedObject) {
    if object.isInChangedList { return }
    object.state.setInChangedList(true)
    pending.addChanged(object)
  }

  /// Notes that the members of an object's to-many relationship have changed.
  func noteListChanged(_ object: ManagedObject) {
    if object.phase == .persistent { noteChanged(object) }
  }

  /// Reports a problem to the container's error handler. The next fetch or save also throws it if it is a failed load.
  func report(_ problem: ContextError) {
    if problem.code == .loadFailed {
      failedLoads += 1
      if pendingFailure == nil { pendingFailure = problem }
    }
    core.report(problem)
  }

  /// Reports a problem to the container's error handler. The next fetch or save also throws it.
  func reportToThrow(_ problem: ContextError) {
    if pendingFailure == nil { pendingFailure = problem }
    report(problem)
  }

  /// Throws the pending error of a place that could not throw. Inside a hook that cannot throw, the error is also kept
  /// for the next call after the hook.
  func throwPendingFailure() throws {
    guard let failure = pendingFailure else { return }
    if !runningHooks.contains(where: { !$0.hook.mayThrow }) { pendingFailure = nil }
    throw failure
  }
}

@available(*, unavailable, message: "a context stays where it was made; use container.perform or a context of your own")
extension ManagedObjectContext: @unchecked Sendable {}
