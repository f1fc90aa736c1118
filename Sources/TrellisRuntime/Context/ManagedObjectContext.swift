import TrellisStorage

/// A place to work with objects: it has one object for each identity, keeps track of what changes, and saves it.
///
/// A context is not Sendable: it and its objects stay in the isolation domain that it was made in. Take one from a container:
///
/// ```swift
/// let context = container.newContext()
/// let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
/// try context.save()
/// ```
/// Fetches, saves and lazy loads are synchronous; for work beside the main actor there is
/// ``PersistentContainer/perform(_:)``.
public final class ManagedObjectContext {
  let core: ContainerCore
  /// The context that this one is a child of; nil for one that saves to the store.
  public let parent: ManagedObjectContext?
  let runtime: RuntimeModel
  let link = ContextLink()
  // `@exclusivity(unchecked)` as in ManagedObject, and sound for the same reason: accesses are instantaneous and confined.
  @exclusivity(unchecked) var map = IdentityMap()
  /// What was changed since the last save.
  @exclusivity(unchecked) var pending = PendingChanges()
  /// So many members a cascade loads rather than leave them to the store: a few are quicker deleted than looked for in memory.
  package var fewMembers = 1000
  /// Records changes; nil unless somebody wants to take them back.
  @exclusivity(unchecked) private(set) var recorder: ChangeRecorder?
  /// The properties that were read while somebody finds out which ones a key path reads.
  var probed: [Int] = []
  /// The hooks that are running, each called from within the one before.
  var runningHooks: ContiguousArray<RunningHook> = []
  /// The objects whose delete is under way, by key. Noted only where a hook could ask for it again.
  var leaving: Set<Int64> = []
  /// The class of the object that was made last, known to be one of the model's.
  @exclusivity(unchecked) var lastClass: ObjectIdentifier?
  /// The relationships in join tables of which the context ever had a list.
  var listed: Set<RelationshipNumber> = []
  /// How often the context has been saved.
  var saveCount = 0
  /// What others saved of objects that are changed here.
  @exclusivity(unchecked) var backlog = MergeBacklog()
  /// Whether a to-many may wait for the store's members to put an order on top of them.
  var hasArrangements = false
  @exclusivity(unchecked) var batches = FetchBatches()
  @exclusivity(unchecked) var sweeper = Sweeper()
  /// What happens when a relationship is used that was not loaded with its object; it is loaded and nothing said unless
  /// that is changed. A request may be stricter for its own results.
  public var lazyLoading = LazyLoading.allowed
  /// How saves settle it when somebody else has written the same objects; by default they throw.
  public var mergePolicy = MergePolicy.error
  /// Whether a request is being answered in memory, whose loads are not the user's.
  var isEvaluating = false
  /// A load that failed where nothing could be thrown; the next fetch or save throws it.
  var pendingFailure: ContextError?
  /// How many loads failed where nothing could be thrown.
  private(set) var failedLoads = 0
  let inbox: ContextInbox
  /// Who looks at the objects through Swift's Observation; nil while the context is not observing.
  @exclusivity(unchecked) var observation: ContextObservation?
  /// What the context calls itself in what others hear of its saves.
  public var author: String?
  /// The requests whose results are kept up to date.
  var liveResults: [LiveResultsReference] = []
  /// Whether reads show one moment of the store, which what others save must not disturb.
  var isPinned = false
  /// What was done here, step by step, to be undone; off until it is enabled.
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
    // Whoever still holds an object may read what was loaded; unloaded values read as placeholders, writes are ignored.
    map.forEach { $0.state.becomeReadOnly() }
  }

  func info(of object: ManagedObject) -> EntityInfo { runtime.entities[type(of: object)._entity] }

  /// The way to the store, opened when it is first needed.
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

  /// Records changes from now on, or stops recording.
  func record(with recorder: ChangeRecorder?) { self.recorder = recorder }

  /// Records changes for a while, with the recorder that records already if there is one.
  ///
  /// - Returns: the recorder, and what ends the recording that this call has begun.
  func beginRecording() -> (recorder: ChangeRecorder, end: () -> Void) {
    if let recorder { return (recorder, {}) }
    let made = ChangeRecorder(self)
    recorder = made
    return (made, { self.recorder = nil })
  }

  /// Makes changes that belong to no step and are not to be taken back by one.
  func withoutRecording<Result>(_ body: () throws -> Result) rethrows -> Result {
    let recorder = recorder
    self.recorder = nil
    defer { self.recorder = recorder }
    return try body()
  }

  // MARK: What objects call

  /// A key for a new object, from a block that the context has for itself.
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

  /// Notes that a to-many of an object has other members.
  func noteListChanged(_ object: ManagedObject) {
    if object.phase == .persistent { noteChanged(object) }
  }

  /// Tells the container's error handler; a failed load is also kept for the next fetch or save.
  func report(_ problem: ContextError) {
    if problem.code == .loadFailed {
      failedLoads += 1
      if pendingFailure == nil { pendingFailure = problem }
    }
    core.report(problem)
  }

  /// Tells the container's error handler, and lets the next fetch or save throw it.
  func reportToThrow(_ problem: ContextError) {
    if pendingFailure == nil { pendingFailure = problem }
    report(problem)
  }

  /// Throws what went wrong where nothing could be thrown. Inside a hook that cannot throw it on, it is kept for whoever comes
  /// after the hook.
  func throwPendingFailure() throws {
    guard let failure = pendingFailure else { return }
    if !runningHooks.contains(where: { !$0.hook.mayThrow }) { pendingFailure = nil }
    throw failure
  }
}

@available(*, unavailable, message: "a context stays where it was made; use container.perform or a context of your own")
extension ManagedObjectContext: @unchecked Sendable {}
