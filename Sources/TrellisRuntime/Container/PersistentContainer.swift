public import Foundation
import Synchronization
package import TrellisModel
public import TrellisStorage

/// A model, a store, and their contexts.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
/// let context = container.mainContext        // on the main actor
/// let names = try await container.perform { context in
///   try context.fetch(Tag.all).map(\.name)   // off the main actor
/// }
/// ```
/// A container can be used from any thread. It stays alive as long as it or one of its contexts is referenced.
public final class PersistentContainer: Sendable {
  let core: ContainerCore
  let workers: Workers
  @MainActor private var main: ManagedObjectContext?
  /// Whether ``mainContext`` exists. Without one, as in a server, no block waits for the main actor.
  private let hasMain = Atomic(false)

  /// Opens or creates a store for a model.
  ///
  /// - Parameters:
  ///   - model: A generated model, such as `.diary`.
  ///   - store: The store, such as `.sqlite(at:)` or `.memory`.
  ///   - workers: The maximum number of blocks of ``perform(timeout:deadline:fromReplica:_:)`` that run concurrently; nil for what the store is
  ///     made for: one in a file or in memory, so that blocks run one after the other, and one for each connection on a
  ///     server. With more than one, two of them may change the same objects, which causes a conflict as between any two
  ///     contexts.
  ///   - log: Receives each request to the store, its opening, and a migration. The default is set by the environment variable `TRELLIS_LOG`:
  ///     `queries` prints the requests to standard error, `queries,values` prints them with their values, which may be
  ///     user data.
  ///   - onError: Called for each problem where no error can be thrown, such as in a property, on the thread where it
  ///     occurs. By default the problem is printed to standard error.
  /// - Throws: ``StoreError`` if the store cannot be opened, or was created with another model.
  public convenience init(
    model: ObjectModel, store: StoreConfiguration, workers: Int? = nil, log: QueryLog? = .fromEnvironment,
    onError: @escaping @Sendable (ContextError) -> Void = PersistentContainer.printProblem
  ) throws {
    try self.init(model, workers: workers, log: log, onError: onError) { model in
      guard let log else { return try store.open(model) }
      return try LoggedOpening(log).run { try store.openObserved(model, MigrationObserver($0)) }
    }
  }

  /// - Parameter open: opens or creates the store, and tells `log` of it.
  init(
    _ model: ObjectModel, workers: Int?, log: QueryLog?, onError: @escaping @Sendable (ContextError) -> Void,
    open: (Model) throws -> any Store
  ) throws {
    let runtime = try RuntimeModel(model)
    let store = try open(runtime.model)
    self.workers = Workers(workers ?? store.concurrentWorkers, of: store.name)
    core = try ContainerCore(
      runtime: runtime, store: store, news: HistoryFollower(store, runtime), log: log, errorHandler: onError)
  }

  /// Creates a container of the same store with other classes for the same entities. What the contexts of one container
  /// save, those of the other one merge.
  ///
  /// - Parameter model: The same model, such as one without hooks.
  package init(sharing other: PersistentContainer, as model: ObjectModel) throws {
    core = ContainerCore(sharing: other.core, as: try RuntimeModel(model))
    workers = other.workers
  }

  /// Closes the store. A SQLite file is complete afterwards, without a write-ahead log next to it.
  ///
  /// A container that is released is closed automatically; this method is for containers that stay alive, such as a
  /// global variable. Operations that need the store afterwards throw ``StoreError`` with the code `closed`. Loaded
  /// values and members stay readable, and unsaved changes are lost. A to-many that is not loaded reads as empty, which is
  /// reported as a `load-failed`. Closing again does nothing. Call this when no work is in
  /// progress, because that work may otherwise throw halfway between two calls.
  public func close() { core.close() }

  /// The context of the main actor. It merges the saves of the container's other contexts automatically, as soon as the
  /// main actor is free and at the latest before ``perform(timeout:deadline:fromReplica:_:)`` returns.
  @MainActor public var mainContext: ManagedObjectContext {
    if let main { return main }
    // Before the context is made, so that a block that does not see it has saved before the context reads.
    hasMain.store(true, ordering: .sequentiallyConsistent)
    let made = ManagedObjectContext(core: core)
    made.graph.followsSaves = true
    main = made
    let bells = made.graph.inbox.listen()
    Task { @MainActor [weak made] in
      for await _ in bells { made?.graph.mergeInboxes() }
    }
    return made
  }

  /// Creates a context for the isolation domain of the caller.
  public func newContext() -> sending ManagedObjectContext {
    ManagedObjectContext(core: core)
  }

  /// Creates a context for the isolation domain of the caller that only reads, and whose reads a replica may answer.
  ///
  /// It sees what this container has saved before, and what it has heard of the saves of other programs: a replica that
  /// has not got this far within a tenth of a second, or cannot be reached, leaves the read to the primary. A save throws
  /// ``StoreError`` with the code `readOnly`. Without a replica, and in a store without a server, the store itself answers.
  ///
  /// - Parameter fromReplica: whether a replica may answer. `false` makes a context as ``newContext()`` does.
  /// - Throws: ``StoreError`` with the code `closed` if the container is closed.
  public func newContext(fromReplica: Bool) throws -> sending ManagedObjectContext {
    try Self.context(core, fromReplica: fromReplica)
  }

  private static func context(_ core: ContainerCore, fromReplica: Bool) throws -> sending ManagedObjectContext {
    guard fromReplica, let served = core.store as? any ServedStore else { return ManagedObjectContext(core: core) }
    try core.checkOpen()
    return ManagedObjectContext(core: core, reading: core.logged(try served.connectToReplica()))
  }

  /// Runs work off the main actor, on a new context and on a thread of the container.
  ///
  /// At most as many blocks run concurrently as the container has workers: one by default in a file or in memory, one for
  /// each connection on a server. Further blocks wait in the order of their calls, and their tasks are suspended. Changes
  /// that the block does not save are discarded. Before this method returns, ``mainContext`` has merged what was saved.
  ///
  /// - Parameters:
  ///   - timeout: How long the block waits for a worker; nil for as long as it takes. It does not limit the block itself.
  ///   - deadline: How long the whole call may take, with the wait for a worker; nil for as long as it takes. When it is
  ///     over, a server is asked to end what it does for the block, and does nothing more for it; a save whose commit has
  ///     begun is completed. Work of the block itself is not ended, nor that of a store without a server: the call then
  ///     returns when the block does.
  ///   - fromReplica: Whether the block only reads, and a replica may answer it. See ``newContext(fromReplica:)``.
  ///   - body: The work. Objects must not leave it; its result must be Sendable, such as snapshots.
  /// - Throws: errors of `body`; ``ContextError`` with the code `load-failed` if a property that it has read could not be
  ///   loaded, even if it has saved before; `CancellationError` if the task is cancelled before the block starts, or while
  ///   a server works for it, which is then asked to stop; ``StoreError`` with the code `busy` if it did not start within
  ///   the timeout, and with the code `timedOut` if the store had not done its work by the deadline. What the block has
  ///   saved until then stays saved.
  public func perform<Result: Sendable>(
    timeout: Duration? = nil, deadline: Duration? = nil, fromReplica: Bool = false,
    _ body: sending @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let core = core
    let result = try await workers.run(timeout: timeout, deadline: deadline) {
      let context = try Self.context(core, fromReplica: fromReplica)
      let result = try body(context)
      // The result may lack what could not be loaded.
      try context.graph.throwPendingFailure()
      return result
    }
    if hasMain.load(ordering: .sequentiallyConsistent) { await mergeIntoMain() }
    return result
  }

  @MainActor private func mergeIntoMain() {
    main?.graph.mergeInboxes()
  }
}

// MARK: - Model

extension PersistentContainer {
  /// The model of the container, with its numbers.
  package var model: Model { core.runtime.model }

  /// Whether a context, or its parent, is of this container.
  package func isContainer(of context: ManagedObjectContext) -> Bool { context.graph.core === core }
}

// MARK: - Notes

extension PersistentContainer {
  /// The notes of the store whose names begin with a prefix; nil if the store keeps none.
  package func notes(beginningWith prefix: String) throws -> [String: [UInt8]]? {
    try core.checkOpen()
    return try (core.store.connect() as? any NoteConnection)?.notes(beginningWith: prefix)
  }

  /// Makes all new objects have keys from a number on. Contexts that have taken keys before use these up.
  ///
  /// - Throws: ``StoreError``.
  package func raiseKeys(to key: Int64) throws { try core.keys.raise(to: key) }
}

extension ManagedObjectContext {
  /// The notes that the next save writes, with or without changes of objects. A save that finds another note than expected
  /// throws ``StoreNoteConflict``.
  package var notes: [StoreNote] {
    get { graph.notes }
    set { graph.notes = newValue }
  }

  /// Gives up the keys that the context has taken for new objects and has not used.
  package func giveUpKeys() { graph.giveUpKeys() }
}

// MARK: - Tests

extension PersistentContainer {
  /// Runs a closure with a new context that forbids lazy loads, for tests that fail on any lazy load.
  ///
  /// ```swift
  /// @Test func feed() throws {
  ///   try container.withoutLazyLoading { context in _ = try makeFeed(context) }
  /// }
  /// ```
  /// - Throws: what `body` throws; ``ContextError`` with the code `lazy-load` if a relationship was lazily loaded.
  public func withoutLazyLoading<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    let context = ManagedObjectContext(core: core)
    context.lazyLoading = .forbidden
    let result = try body(context)
    try context.graph.throwPendingFailure()
    return result
  }
}

// MARK: - Backup

extension PersistentContainer {
  /// Writes a copy of the store to another file, while this process and others continue to read and save.
  ///
  /// ```swift
  /// try container.backUp(to: folder.appending(path: "diary-2026-01-31.sqlite"))
  /// ```
  /// The copy is a snapshot of the store at one moment and contains each save completely or not at all. It is an
  /// independent store of the same kind that a container can open, and only its owner may read it. The copy is written
  /// next to its destination, flushed to disk and then renamed, so a crash or a full disk leaves no partial file. It
  /// does not contain unsaved changes of contexts. Files of external data are copied to a folder next to it, with the
  /// name of the file and the suffix `.external`.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist.
  ///   - replacing: Whether an existing file is replaced, atomically. A file that a store has open is not replaced.
  /// - Throws: ``StoreError``: `unsupported` for a store in memory, `fileExists` if the file exists and may not be
  ///   replaced. An existing file is then unchanged.
  /// - Complexity: linear in the size of the store. For a large store, call it off the main actor.
  public func backUp(to url: URL, replacing: Bool = false) throws {
    try core.checkOpen()
    guard url.isFileURL else {
      throw StoreError(
        .cannotOpen, "\(url.absoluteString) is no file.", remedy: "Give a file URL, as URL(filePath:) makes.")
    }
    let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
    try core.store.backUp(to: path, replacing: replacing)
  }
}

// MARK: - External files

extension PersistentContainer {
  /// Removes the files of external data that are no longer in use: those of replaced or deleted values, and those that
  /// a crash left behind.
  ///
  /// Opening a store does the same if there may be such files. A long-running process can call this after it has
  /// deleted many objects. Files of values that this process has in memory are kept: in unsaved changes, in undo
  /// histories, in snapshots.
  ///
  /// ```swift
  /// let count = try container.collectExternalFiles()
  /// ```
  /// - Returns: The number of removed files. It is 0 for a store without external files.
  /// - Throws: ``StoreError``: `busy` if another container or another process has the store open.
  /// - Complexity: linear in the number of files and of rows with attributes that may have external files.
  @discardableResult public func collectExternalFiles() throws -> Int {
    try core.checkOpen()
    return try core.store.collectExternalFiles()
  }
}

// MARK: - Problem printing

extension PersistentContainer {
  /// Prints a problem to standard error.
  public static let printProblem: @Sendable (ContextError) -> Void = { problem in
    FileHandle.standardError.write(Data("Trellis: \(problem)\n".utf8))
  }
}

// MARK: - Query log printing

extension QueryLog {
  /// Prints each request to standard error, without values.
  public static let printed = printing(values: false)

  /// Prints each request with its values, which may be user data.
  public static let printedWithValues = printing(values: true)

  /// The log that the environment variable `TRELLIS_LOG` requested at the start of the process; nil if it did not. An
  /// unknown word in it is reported once, on standard error.
  public static let fromEnvironment: QueryLog? = {
    let setting = ProcessInfo.processInfo.environment["TRELLIS_LOG"] ?? ""
    if let complaint = complaint(about: setting) {
      FileHandle.standardError.write(Data("Trellis: \(complaint)\n".utf8))
    }
    return wanted(by: setting)
  }()

  /// The log for a list of words: `queries`, optionally with `values`.
  package static func wanted(by setting: String) -> QueryLog? {
    let words = words(of: setting)
    guard words.contains("queries") else { return nil }
    return words.contains("values") ? printedWithValues : printed
  }

  /// The error in a list of words; nil if there is none.
  package static func complaint(about setting: String) -> String? {
    let words = words(of: setting)
    let isUnknown = words.contains { $0 != "queries" && $0 != "values" }
    guard isUnknown || (words.contains("values") && !words.contains("queries")) else { return nil }
    return "TRELLIS_LOG=\(setting) is not understood. Set it to \"queries\", or to \"queries,values\" for values too."
  }

  private static func words(of setting: String) -> [String] {
    setting.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  private static func printing(values: Bool) -> QueryLog {
    QueryLog(includesValues: values) { entry in
      FileHandle.standardError.write(Data("Trellis: \(entry)\n".utf8))
    }
  }
}

// MARK: - Description

extension PersistentContainer: CustomStringConvertible {
  /// The names of the model and of the store.
  public var description: String { "container of \(model.description.name) in \(core.store.name)" }
}

// MARK: - Unavailable

/// Spellings of other frameworks. None is ever called: each message names the spelling here.
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
