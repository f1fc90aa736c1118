public import Observation
@_spi(UI) import TrellisRuntime
public import Trellis

/// Keeps the list of a request up to date while the request changes: the state behind `LiveQuery`, for view models, UIKit
/// and AppKit.
///
/// ```swift
/// let entries = LiveListController(EmotionDiary.all.sorted { $0.createdAt.descending }, in: container.mainContext)
/// show(entries.list)
/// entries.request = EmotionDiary.where { $0.content.contains("커피") }
/// ```
/// A request that equals the present one is not run again. A new one is run at once, on the main actor; if it fails, the
/// list stays as it was, and has the error. The objects are those of the context, so one that both requests find is the
/// same object before and after.
///
/// It works with Swift's Observation: code that reads ``list`` in `withObservationTracking`, or in a view, is notified
/// once before each change.
@MainActor public final class LiveListController<Columns: EntityColumns, SectionValue: Hashable & Sendable>: Observable
{
  /// The context that the objects belong to.
  public let context: ManagedObjectContext
  /// How many objects are shown at first, and more with each ``loadMore()``; nil for all of the request.
  public let pageSize: Int?
  private let sections: LiveListSections<Columns, SectionValue>?
  private let registrar = ObservationRegistrar()
  /// Runs the notification of observers, for example in an animation.
  var announcing: (() -> Void) -> Void = { $0() }

  private var wanted: FetchRequest<Columns>
  private var limit: Int?
  private var source: LiveListSource<Columns, SectionValue>?
  private var error: (any Error)?
  private var news = LiveListNews<Columns.Object>()
  /// What has changed for each of those who follow, since they were last told.
  private var followers: [Int: LiveListNews<Columns.Object>] = [:]
  /// What is shown; nil if it has to be made.
  private var shown: LiveList<Columns, SectionValue>?

  /// Creates a controller of a list in sections, and runs its request.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - sections: What the sections are made by.
  ///   - pageSize: How many objects are shown at first, at least 1, whatever the limit of the request is; nil for all.
  ///   - context: The main context of a container, or a child of it.
  public convenience init(
    _ request: FetchRequest<Columns>, sections: LiveListSections<Columns, SectionValue>, pageSize: Int? = nil,
    in context: ManagedObjectContext
  ) {
    self.init(request, sections, pageSize, context)
  }

  init(
    _ request: FetchRequest<Columns>, _ sections: LiveListSections<Columns, SectionValue>?, _ pageSize: Int?,
    _ context: ManagedObjectContext
  ) {
    self.context = context
    self.sections = sections
    self.pageSize = pageSize.map { max(1, $0) }
    wanted = request
    limit = self.pageSize
    open()
  }

  // MARK: What is shown

  /// What the list shows now.
  public var list: LiveList<Columns, SectionValue> {
    registrar.access(self, keyPath: \.list)
    return present
  }

  /// The same as ``list``, for the view that gives the request: it is evaluated when it gives another one, and need not be
  /// told.
  var ownList: LiveList<Columns, SectionValue> {
    registrar.access(self, keyPath: \.ownList)
    return present
  }

  private var present: LiveList<Columns, SectionValue> {
    if let shown { return shown }
    let made = make()
    shown = made
    return made
  }

  private func make() -> LiveList<Columns, SectionValue> {
    guard let source else { return LiveList(error: error) }
    takeNews(from: source)
    let objects = source.results.unobservedSnapshot
    return LiveList(objects, source.sections(objects), limit: limit, news: news, error: error)
  }

  private func takeNews(from source: LiveListSource<Columns, SectionValue>) {
    guard let change = source.changes.takeChange() else { return }
    news.add(change.steps, below: limit)
    for follower in followers.keys { followers[follower]?.add(change.steps, below: limit) }
  }

  // MARK: What is asked for

  /// The request for the objects. Setting one that is not the same shows its first page.
  public var request: FetchRequest<Columns> {
    get {
      registrar.access(self, keyPath: \.request)
      return wanted
    }
    set {
      guard newValue != wanted || error != nil else { return }
      announce(\.request) { show(newValue) }
    }
  }

  /// Shows another request for the view that gives it while it is evaluated. Other observers are notified.
  func showForOwner(_ request: FetchRequest<Columns>) {
    guard request != wanted else { return }
    registrar.withMutation(of: self, keyPath: \.request) {
      registrar.withMutation(of: self, keyPath: \.list) { show(request) }
    }
  }

  private func show(_ request: FetchRequest<Columns>) {
    wanted = request
    limit = pageSize
    open()
    news = LiveListNews()
  }

  /// Shows one page more, if there are more objects.
  public func loadMore() {
    guard let pageSize, let limit, present.hasMore else { return }
    announce(\.list) {
      if let source { takeNews(from: source) }
      let (sum, isTooLarge) = limit.addingReportingOverflow(pageSize)
      self.limit = isTooLarge ? .max : sum
      open()
    }
  }

  /// Counts changes from now on; see ``LiveList/news``.
  public func markSeen() {
    guard !present.news.isEmpty else { return }
    announce(\.list) {
      news = LiveListNews()
      shown = nil
    }
  }

  /// Runs the wanted request. If it fails, the former results stay.
  private func open() {
    shown = nil
    if let source { takeNews(from: source) }
    do {
      // One more tells whether there are more.
      let request = limit.map { $0 == .max ? wanted.limit($0) : wanted.limit($0 + 1) } ?? wanted
      let opened = try LiveListSource(request, sections, in: context)
      source?.results.willChange = {}
      source?.results.didChange = {}
      opened.results.willChange = { [weak self] in self?.resultsWillChange() }
      opened.results.didChange = { [weak self] in self?.resultsDidChange() }
      source = opened
      error = nil
    } catch {
      self.error = error
    }
  }

  // MARK: Following

  /// Passes on what the list shows, now and after each change, until the task is cancelled: for table and collection views,
  /// and for other code outside of views.
  ///
  /// ```swift
  /// let following = Task { await entries.follow { await dataSource.apply($0.snapshot()) } }
  /// ```
  /// Changes that happen before `body` returns are passed on together.
  ///
  /// - Parameter body: Receives the list, and which of its objects have changed.
  public func follow(
    _ body: @MainActor (LiveListUpdate<Columns, SectionValue>) async -> Void
  ) async {
    let number = (followers.keys.max() ?? 0) + 1
    followers[number] = LiveListNews()
    defer { followers[number] = nil }
    let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    bell.yield()
    for await _ in bells {
      let list = withObservationTracking {
        self.list
      } onChange: {
        bell.yield()
      }
      let updated = followers[number]?.updated ?? []
      followers[number] = LiveListNews()
      await body(LiveListUpdate(list: list, updated: updated.isEmpty ? [] : list.ids.filter(updated.contains)))
    }
  }

  // MARK: Observation

  private func announce(_ keyPath: KeyPath<LiveListController, some Any>, _ change: () -> Void) {
    announcing {
      registrar.willSet(self, keyPath: keyPath)
      registrar.willSet(self, keyPath: \.list)
      registrar.willSet(self, keyPath: \.ownList)
    }
    change()
    registrar.didSet(self, keyPath: keyPath)
    registrar.didSet(self, keyPath: \.list)
    registrar.didSet(self, keyPath: \.ownList)
  }

  private func resultsWillChange() {
    announcing {
      registrar.willSet(self, keyPath: \.list)
      registrar.willSet(self, keyPath: \.ownList)
    }
  }

  private func resultsDidChange() {
    shown = nil
    registrar.didSet(self, keyPath: \.list)
    registrar.didSet(self, keyPath: \.ownList)
  }
}

extension LiveListController where SectionValue == Never {
  /// Creates a controller of a list, and runs its request.
  ///
  /// - Parameters:
  ///   - request: The request for the objects.
  ///   - pageSize: How many objects are shown at first, at least 1, whatever the limit of the request is; nil for all.
  ///   - context: The main context of a container, or a child of it.
  public convenience init(
    _ request: FetchRequest<Columns>, pageSize: Int? = nil, in context: ManagedObjectContext
  ) {
    self.init(request, nil, pageSize, context)
  }
}

/// What a list shows, and what has changed in it.
public struct LiveListUpdate<Columns: EntityColumns, SectionValue: Hashable & Sendable> {
  /// What the list shows.
  public let list: LiveList<Columns, SectionValue>
  /// Those of its objects that were in it before, and have other values or members now, in the order of the list.
  public let updated: [ObjectID<Columns.Object>]
}

/// The live results of a request, with their sections.
struct LiveListSource<Columns: EntityColumns, SectionValue: Hashable & Sendable> {
  let results: LiveResults<Columns>
  let sections: (LiveSnapshot<Columns>) -> [LiveSection<Columns, SectionValue>]
  /// The changes since the list was last made.
  let changes: LiveChanges<Columns>

  init(
    _ request: FetchRequest<Columns>, _ sections: LiveListSections<Columns, SectionValue>?,
    in context: ManagedObjectContext
  ) throws {
    if let sections {
      let live = try sections.open(request, context)
      results = live.results
      self.sections = live.sections(of:)
    } else {
      results = try context.live(request)
      self.sections = { _ in [] }
    }
    changes = results.changes
  }
}
