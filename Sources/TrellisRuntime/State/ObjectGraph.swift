import TrellisStorage

/// The objects of one context, their links, and what was changed about them.
///
/// The graph is the state of a ``ManagedObjectContext``, which is its public face and its only owner. Like the
/// context, a graph stays in the isolation domain that it was created in. The folders above this one extend the graph
/// by what it can do: load, validate, delete, undo, merge, save.
package final class ObjectGraph {
  /// The context that owns the graph. Nil only while the context is created or deinitialized.
  ///
  /// Sound because the context's deinit sets this to nil before its memory is freed. A weak reference would give the
  /// context a side table, and slow down every retain of it.
  @exclusivity(unchecked) unowned(unsafe) var owner: ManagedObjectContext?
  let core: ContainerCore
  /// The graph of the parent context. Nil for a context that saves to the store.
  let parent: ObjectGraph?
  /// The links of the child contexts, some of which may be released.
  private var children: [ContextLink] = []
  /// Whether the context merges the saves of others as they happen, as the main context and its descendants do.
  var followsSaves = false
  let runtime: RuntimeModel
  let link: ContextLink
  // `@exclusivity(unchecked)` as in ManagedObject, and sound for the same reason: accesses are instantaneous and
  // confined.
  @exclusivity(unchecked) var map = IdentityMap()
  /// The changes since the last save.
  @exclusivity(unchecked) var pending = PendingChanges()
  /// The maximum number of members that a cascade loads instead of leaving them to the store. A few members are deleted
  /// faster than the objects in memory are searched for members.
  package var fewMembers = 1000
  /// The number of loads along a relationship of an entity to itself, one after the other, from which on several levels
  /// are loaded.
  package var stepsOfChain = 2
  /// The recorder of changes. Nil unless changes may have to be taken back.
  @exclusivity(unchecked) private(set) var recorder: ChangeRecorder?
  /// The properties that were read while the properties of a key path are determined.
  var probed: [Int] = []
  /// The running hooks. Each was called from within the one before.
  @exclusivity(unchecked) var runningHooks: ContiguousArray<RunningHook> = []
  /// The keys of the objects that are being deleted. Noted only where a hook could delete an object again.
  var leaving: Set<Int64> = []
  /// The class of the last created object, known to belong to the model.
  @exclusivity(unchecked) var lastClass: ObjectIdentifier?
  /// The relationships in join tables that the context has ever had a list of.
  @exclusivity(unchecked) var listed: Set<RelationshipNumber> = []
  /// The number of saves. A position that was that of the store before a save may differ from it afterwards.
  @exclusivity(unchecked) var saves = 0
  /// Changes by other contexts to objects that are changed here.
  @exclusivity(unchecked) var backlog = MergeBacklog()
  /// The last versions of rows whose delete was saved, for objects that are inserted with their keys again.
  var formerVersions: [Int64: Int64] = [:]
  /// Whether to-many relationships may have been reordered before their members in the store were loaded.
  var hasArrangements = false
  @exclusivity(unchecked) var batches = FetchBatches()
  @exclusivity(unchecked) var sweeper = Sweeper()
  var lazyLoading = LazyLoading.allowed
  var mergePolicy = MergePolicy.error
  /// Whether a request is being evaluated in memory. Lazy loads are then not caused by the caller.
  var isEvaluating = false
  /// The error of a load that failed where it could not be thrown. The next fetch or save throws it.
  var pendingFailure: ContextError?
  let inbox: ContextInbox
  /// The observers of objects through Swift's Observation. Nil while the context is not observing.
  @exclusivity(unchecked) var observation: ContextObservation?
  var author: String?
  /// The notes that the next save writes.
  var notes: [StoreNote] = []
  /// The live results, which follow the saves that the graph makes or merges; nil if there are none.
  var liveResults: LiveResultsList?
  /// Whether reads show one moment of the store, unaffected by the saves of other contexts.
  var isPinned = false
  /// Whether the graph shows the store as it was, and so never merges and never saves.
  private(set) var isPast = false
  let undo: UndoHistory

  #if DEBUG
    /// The number of operations that run within each other and are checked when they end.
    var watches = 0
    /// Contradictions that the next merge may settle, by object, and the operations after which they were found.
    var suspectedLinks: [Int64: [String: String]] = [:]
    /// The contradictions that were reported.
    var toldLinks: Set<String> = []
  #endif

  private var keys: Range<Int64> = 0..<0
  private var keyBlock: Int64 = 1
  /// The connection to what the graph reads from and saves to: the store, or the parent of a child.
  private(set) var openConnection: (any StoreConnection)?

  /// - Parameter source: The connection to the parent or to a moment in the past; nil to open one to the store when it is
  ///   first needed.
  init(
    core: ContainerCore, parent: ObjectGraph?, link: ContextLink, undo: UndoHistory, source: (any StoreConnection)?
  ) {
    openConnection = source
    self.link = link
    self.undo = undo
    self.core = core
    self.parent = parent
    runtime = core.runtime
    inbox = core.hub.makeInbox(below: parent?.inbox)
    link.graph = self
    parent?.add(child: self)
  }

  private func add(child: ObjectGraph) {
    children.removeAll { $0.graph == nil }
    children.append(child.link)
    child.followsSaves = followsSaves
  }

  /// The graphs of the child contexts.
  var childGraphs: [ObjectGraph] { children.compactMap(\.graph) }

  /// Makes the graph show the store as it was.
  func showPast() {
    isPast = true
    isPinned = true
    core.hub.close(inbox)
  }

  deinit {
    core.hub.close(inbox)
    link.graph = nil
    link.remains = ContextRemains(runtime: runtime, report: core.errorHandler)
    // Objects that are still referenced keep their loaded values; unloaded values read as placeholders, writes are
    // ignored.
    map.forEach { $0.state.becomeReadOnly() }
  }

  func info(of object: ManagedObject) -> EntityInfo {
    let number = type(of: object)._entity
    return runtime.info(number)
  }

  /// What a closure reads of an object's entity, which is not retained.
  @inline(__always) func read<Value>(_ object: ManagedObject, _ value: (EntityInfo) -> Value) -> Value {
    runtime.read(type(of: object)._entity, value)
  }

  /// The connection to the store, or to the parent of a child.
  func connection() throws -> any StoreConnection {
    if let openConnection {
      do { try core.checkOpen() } catch {
        self.openConnection = nil
        throw error
      }
      return openConnection
    }
    let made = try core.connect()
    openConnection = made
    return made
  }

  // MARK: Recording

  /// Starts to record changes, or stops if the recorder is nil.
  func record(with recorder: ChangeRecorder?) {
    self.recorder?.end()
    self.recorder = recorder
  }

  /// Records changes temporarily, with the present recorder if there is one.
  ///
  /// - Returns: the recorder, and a function that ends the recording if this call has started it.
  func beginRecording() -> (recorder: ChangeRecorder, end: () -> Void) {
    if let recorder { return (recorder, {}) }
    let made = ChangeRecorder(self)
    recorder = made
    return (made, { self.record(with: nil) })
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

  func giveUpKeys() { keys = 0..<0 }

  func registerInserted(_ object: ManagedObject) {
    pending.deadTargets.remove(object._key)
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
    recorder?.noteRelinked(object)
    if object.phase == .persistent { noteChanged(object) }
  }

  /// Reports a problem to the container's error handler. The next fetch or save also throws it if it is a failed load.
  func report(_ problem: ContextError) {
    if problem.code == .loadFailed && pendingFailure == nil { pendingFailure = problem }
    core.report(problem)
  }

  /// Runs the part of a use of an object that can fail, where the use itself cannot throw: a read or write of a
  /// property, an undelete. The error is reported, and the next fetch or save throws it.
  ///
  /// - Returns: nil if an error was reported.
  @discardableResult func reporting<Result>(_ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch let problem as ContextError {
      reportToThrow(problem)
    } catch {
      report(ContextError(.loadFailed, "What a use of an object needs could not be loaded.", cause: error))
    }
    return nil
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

// MARK: - State

extension ObjectGraph {
  /// Whether there are unsaved changes.
  var hasChanges: Bool {
    !deleted.isEmpty || inserted.contains { $0.phase == .inserted } || changed.contains { $0.isUpdated }
      || pending.deferredLists.lists.values.contains { $0.hasChanges }
  }

  /// The objects that the next save will insert, in the order in which they were created.
  var insertedObjects: ContiguousArray<ManagedObject> {
    // Mostly all of them are new still.
    inserted.allSatisfy { $0.phase == .inserted } ? inserted : inserted.filter { $0.phase == .inserted }
  }
  /// The saved objects with unsaved changes.
  var updatedObjects: [ManagedObject] { changed.filter(\.isUpdated) }
  /// The objects that the next save will delete.
  var deletedObjects: [ManagedObject] { Array(deleted) }

  // MARK: Steps

  /// Removes a deleted object from the context.
  func detach(_ object: ManagedObject) {
    leave(object, isDeleted: true)
  }

  /// Removes an object from the context.
  func leave(_ object: ManagedObject, isDeleted: Bool = false) {
    object.announceAll()
    map.remove(object._key)
    object.state.detach(isDeleted: isDeleted)
  }

  /// Makes a saved object without changes read its row again when it is next used. Values that exist only in memory
  /// stay, and so does a partner whose own row was changed here.
  func turnIntoFault(_ object: ManagedObject) {
    object.announceAll()
    let info = info(of: object)
    object.state.becomeFault(keeping: info.transients.bits)
    if object.changedBits == 0 { object.committedRow = nil }
    guard object.hasLinkNotes else { return }
    let isTransient = { (property: Int) in info.relationships[property]?.isTransient == true }
    object.removeLists { !isTransient($0.property) }
    forgetPartners(of: object)
    if object.lists.isEmpty && object.partners.isEmpty && object.changedBits == 0 { object.forgetLinks() }
  }
}
