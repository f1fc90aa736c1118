#if canImport(SwiftUI)
  public import SwiftUI
  public import Trellis

  /// A list of objects for a view, which is evaluated again when the list changes.
  ///
  /// ```swift
  /// struct EntryList: View {
  ///   @LiveQuery(EmotionDiary.all.sorted { $0.createdAt.descending }, pageSize: 50) private var entries
  ///
  ///   var body: some View {
  ///     List {
  ///       ForEach(entries.ids, id: \.self) { EntryRow(id: $0) }
  ///       if entries.hasMore { Button("More") { $entries.loadMore() } }
  ///     }
  ///   }
  /// }
  /// ```
  /// The objects are those of the environment's context; see ``SwiftUI/View/trellisContainer(_:)``. A request with values that
  /// change is given in the view's initializer:
  ///
  /// ```swift
  /// init(search: String) {
  ///   _entries = LiveQuery(EmotionDiary.where { $0.content.contains(search) })
  /// }
  /// ```
  /// When it is another one than before, it is run while the view is evaluated, without a further evaluation. If it fails, the
  /// list shows what it has shown, and has the error.
  @MainActor @propertyWrapper
  public struct LiveQuery<Columns: EntityColumns, SectionValue: Hashable & Sendable>: @preconcurrency DynamicProperty {
    /// What stays the same while the view is there.
    @MainActor private final class Storage {
      var controller: LiveListController<Columns, SectionValue>?
      var sections: LiveListSections<Columns, SectionValue>?
    }

    private let request: FetchRequest<Columns>
    private let sections: LiveListSections<Columns, SectionValue>?
    private let pageSize: Int?
    private let animation: Animation?
    @Environment(\.trellisContext) private var context
    @State private var storage = Storage()

    /// Creates a list in sections.
    ///
    /// - Parameters:
    ///   - request: The request for the objects.
    ///   - sections: What the sections are made by.
    ///   - pageSize: How many objects are shown at first, at least 1, whatever the limit of the request is; nil for all.
    ///   - animation: How changes of the list are animated, other than those by another request of the view.
    public init(
      _ request: FetchRequest<Columns>, sections: LiveListSections<Columns, SectionValue>, pageSize: Int? = nil,
      animation: Animation? = nil
    ) {
      self.request = request
      self.sections = sections
      self.pageSize = pageSize
      self.animation = animation
    }

    /// What the list shows.
    public var wrappedValue: LiveList<Columns, SectionValue> {
      storage.controller?.ownList ?? LiveList(error: ScreenError(.noContext, "\(Columns.Object.self)"))
    }

    /// The query itself: `$entries.loadMore()`.
    public var projectedValue: LiveQuery { self }

    /// The state of the list, to be passed to other code than this view; nil in a view without a context. It notifies those who
    /// read it of each change, of other requests of this view, too. In this view, read the property itself. The request is
    /// that of the view: another one that is set lasts until the view is evaluated again.
    public var controller: LiveListController<Columns, SectionValue>? { storage.controller }

    /// Shows one page more, if there are more objects.
    public func loadMore() { storage.controller?.loadMore() }

    /// Counts changes from now on; see ``LiveList/news``.
    public func markSeen() { storage.controller?.markSeen() }

    /// Brings the list up to date with the view. SwiftUI calls it.
    public func update() {
      guard let context else { return storage.controller = nil }
      guard let known = storage.controller, known.context === context, known.pageSize == pageSize,
        storage.sections == sections
      else {
        storage.sections = sections
        storage.controller = LiveListController(request, sections, pageSize, context)
        setAnimation()
        return
      }
      setAnimation()
      known.showForOwner(request)
    }

    private func setAnimation() {
      guard let animation else {
        storage.controller?.announcing = { $0() }
        return
      }
      storage.controller?.announcing = { withAnimation(animation, $0) }
    }
  }

  extension LiveQuery where SectionValue == Never {
    /// Creates a list without sections.
    ///
    /// - Parameters:
    ///   - request: The request for the objects.
    ///   - pageSize: How many objects are shown at first, at least 1, whatever the limit of the request is; nil for all.
    ///   - animation: How changes of the list are animated, other than those by another request of the view.
    public init(_ request: FetchRequest<Columns>, pageSize: Int? = nil, animation: Animation? = nil) {
      self.request = request
      self.pageSize = pageSize
      self.animation = animation
      sections = nil
    }
  }

  /// An object that a view shows as long as it is there.
  ///
  /// ```swift
  /// struct EntryRow: View {
  ///   @LiveObject private var entry: EmotionDiary?
  ///
  ///   init(id: ObjectID<EmotionDiary>) { _entry = LiveObject(id) }
  ///
  ///   var body: some View { if let entry { Text(entry.content) } }
  /// }
  /// ```
  /// The view is evaluated again when a value changes that it has read, and when the object is deleted, here or by others. The
  /// value is nil then.
  @MainActor @propertyWrapper public struct LiveObject<Object: FetchableObject>: DynamicProperty {
    private let id: ObjectID<Object>
    @Environment(\.trellisContext) private var context

    /// Creates the property for an object of the environment's context.
    public init(_ id: ObjectID<Object>) { self.id = id }

    /// The object; nil if it is deleted, or could not be fetched.
    public var wrappedValue: Object? { try? fetched.get() }

    /// The object, or why it could not be fetched.
    public var projectedValue: Result<Object?, any Error> { fetched }

    private var fetched: Result<Object?, any Error> {
      Result {
        guard let context else { throw ScreenError(.noContext, "\(Object.self)") }
        return try context.liveObject(with: id)
      }
    }
  }

  /// The form of a view, which lives as long as the view.
  ///
  /// ```swift
  /// struct EntryForm: View {
  ///   @LiveForm private var form: ObjectForm<EmotionDiary>?
  ///
  ///   init(id: ObjectID<EmotionDiary>) { _form = LiveForm(editing: id) }
  ///
  ///   var body: some View {
  ///     if let form { TextField("Content", text: form.fields.content) }
  ///   }
  /// }
  /// ```
  /// For another object, the form is made anew.
  @MainActor @propertyWrapper public struct LiveForm<Object: FetchableObject>: @preconcurrency DynamicProperty
  where Object.Columns.Object == Object {
    @MainActor private final class Storage {
      var made: (id: ObjectID<Object>?, form: Result<ObjectForm<Object>, any Error>)?
    }

    private let id: ObjectID<Object>?
    private let make: (ManagedObjectContext) throws -> ObjectForm<Object>
    @Environment(\.trellisContext) private var context
    @State private var storage = Storage()

    /// Creates the property for an object of the environment's context.
    public init(editing id: ObjectID<Object>) {
      self.id = id
      make = { context in
        guard let object = try context.object(with: id) else { throw ScreenError(.noObject, "\(Object.self)") }
        return try ObjectForm(editing: object)
      }
    }

    /// Creates the property for a new object.
    ///
    /// - Parameter new: Makes the object, in the form's own context.
    public init(new: @escaping (ManagedObjectContext) throws -> Object) {
      id = nil
      make = { try ObjectForm(in: $0, new: new) }
    }

    /// The form; nil if it could not be made, or the view has no context.
    public var wrappedValue: ObjectForm<Object>? { try? storage.made?.form.get() }

    /// The form, or why it could not be made.
    public var projectedValue: Result<ObjectForm<Object>, any Error> {
      storage.made?.form ?? .failure(ScreenError(.noContext, "\(Object.self)"))
    }

    /// Makes the form, once for each object. SwiftUI calls it.
    public func update() {
      guard let context else { return }
      if let made = storage.made, made.id == id { return }
      storage.made = (id, Result { try make(context) })
    }
  }

  extension ObjectForm {
    /// The object's properties as bindings: `TextField("Content", text: form.fields.content)`.
    public var fields: Bindable<Object> { Bindable(object) }
  }
#endif
