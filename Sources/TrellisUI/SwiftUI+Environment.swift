#if canImport(SwiftUI)
  public import SwiftUI
  public import Trellis

  private struct ContainerKey: EnvironmentKey {
    static var defaultValue: PersistentContainer? { nil }
  }

  private struct ContextKey: EnvironmentKey {
    static var defaultValue: ManagedObjectContext? { nil }
  }

  extension EnvironmentValues {
    /// The container that ``SwiftUI/View/trellisContainer(_:)`` has given to the view.
    public fileprivate(set) var trellisContainer: PersistentContainer? {
      get { self[ContainerKey.self] }
      set { self[ContainerKey.self] = newValue }
    }

    /// The context of ``LiveQuery``, ``LiveObject`` and ``LiveForm``: the main context of the container, or another one of the
    /// main actor, such as that of a form, whose objects are to be shown. It should be an observing one.
    public var trellisContext: ManagedObjectContext? {
      get { self[ContextKey.self] }
      set { self[ContextKey.self] = newValue }
    }
  }

  extension View {
    /// Gives a container to this view and those in it, and its main context, which observes from now on.
    ///
    /// ```swift
    /// WindowGroup { EntryScreen() }.trellisContainer(container)
    /// ```
    /// - Parameter container: The container, created once, such as in the app's initializer.
    public func trellisContainer(_ container: PersistentContainer) -> some View {
      environment(\.trellisContainer, container).environment(\.trellisContext, container.observedContext)
    }
  }

  extension Scene {
    /// Gives a container to the views of the scene, and its main context, which observes from now on.
    ///
    /// - Parameter container: The container, created once, such as in the app's initializer.
    public func trellisContainer(_ container: PersistentContainer) -> some Scene {
      environment(\.trellisContainer, container).environment(\.trellisContext, container.observedContext)
    }
  }

  extension PersistentContainer {
    @MainActor fileprivate var observedContext: ManagedObjectContext {
      mainContext.isObserving = true
      return mainContext
    }
  }

  /// Objects for previews, in a container in memory that all previews of the type share.
  ///
  /// ```swift
  /// struct SampleEntries: SeededPreview {
  ///   static let model = ObjectModel.diary
  ///   static func seed(_ context: ManagedObjectContext) throws {
  ///     _ = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
  ///   }
  /// }
  ///
  /// #Preview(traits: .modifier(SampleEntries())) { EntryList() }
  /// ```
  @MainActor public protocol SeededPreview: PreviewModifier where Context == PersistentContainer {
    /// The model of the objects.
    static var model: ObjectModel { get }
    /// Makes the objects. They are saved afterwards.
    static func seed(_ context: ManagedObjectContext) throws
  }

  extension SeededPreview {
    /// The container that the previews share.
    public static func makeSharedContext() async throws -> PersistentContainer {
      try PersistentContainer(previewing: model, seed)
    }

    /// The preview with the container.
    public func body(content: Content, context: PersistentContainer) -> some View {
      content.trellisContainer(context)
    }
  }
#endif
