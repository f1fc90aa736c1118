// Those declarations of SwiftUI that TrellisUI and the sample use, with SwiftUI's signatures, and just enough behind them to
// evaluate bodies: `Stage` does it.

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}

/// A view that the stage knows, instead of a body.
@MainActor public protocol PrimitiveView: View where Body == Never {
  func visit(_ visit: Visit)
}

extension PrimitiveView {
  public var body: Never { fatalError("\(Self.self) has no body") }
}

extension Never: View {
  public var body: Never { fatalError() }
}

@MainActor @resultBuilder public struct ViewBuilder {
  public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)>
  {
    TupleView((repeat each content)) { visit in
      var place = 0
      for view in repeat each content {
        visit.child(view, place)
        place += 1
      }
    }
  }
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildBlock() -> EmptyView { EmptyView() }
  public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
  public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
  public static func buildEither<First: View, Second: View>(first: First) -> _ConditionalContent<First, Second> {
    _ConditionalContent(visited: { $0.child(first, "first") })
  }
  public static func buildEither<First: View, Second: View>(second: Second) -> _ConditionalContent<First, Second> {
    _ConditionalContent(visited: { $0.child(second, "second") })
  }
}

public struct TupleView<T>: PrimitiveView {
  public var value: T
  let visited: (Visit) -> Void

  init(_ value: T, visited: @escaping (Visit) -> Void) {
    self.value = value
    self.visited = visited
  }

  public func visit(_ visit: Visit) { visited(visit) }
}

public struct _ConditionalContent<TrueContent, FalseContent>: PrimitiveView {
  let visited: (Visit) -> Void
  public func visit(_ visit: Visit) { visited(visit) }
}

public struct EmptyView: PrimitiveView {
  public init() {}
  public func visit(_ visit: Visit) {}
}

extension Optional: View, PrimitiveView where Wrapped: View {
  public func visit(_ visit: Visit) { if let self { visit.child(self, "some") } }
}

// MARK: - What is shown

public struct Text: PrimitiveView {
  let content: String
  public init<S: StringProtocol>(_ content: S) { self.content = String(content) }
  public func visit(_ visit: Visit) { visit.show(.text(content)) }
}

public struct Button<Label: View>: PrimitiveView {
  let title: String
  let action: @MainActor () -> Void
  public func visit(_ visit: Visit) { visit.show(.button(title, action)) }
}

extension Button where Label == Text {
  public init<S: StringProtocol>(_ title: S, action: @escaping @MainActor () -> Void) {
    self.title = String(title)
    self.action = action
  }
}

public struct TextField<Label: View>: PrimitiveView {
  let title: String
  let text: Binding<String>
  public func visit(_ visit: Visit) {
    // The field itself reads the text, and not the view around it.
    visit.tracking { visit.show(.field(title, text, shown: text.wrappedValue)) }
  }
}

extension TextField where Label == Text {
  public init<S: StringProtocol>(_ title: S, text: Binding<String>) {
    self.title = String(title)
    self.text = text
  }
}

// MARK: - What contains others

public struct List<SelectionValue: Hashable, Content: View>: PrimitiveView {
  let content: Content
  public func visit(_ visit: Visit) { visit.child(content, "content") }
}

extension List where SelectionValue == Never {
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

public struct Form<Content: View>: PrimitiveView {
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
  public func visit(_ visit: Visit) { visit.child(content, "content") }
}

public struct Section<Parent, Content, Footer> {
  let title: String
  let content: Content
}

extension Section: View, PrimitiveView where Parent: View, Content: View, Footer: View {
  public func visit(_ visit: Visit) {
    visit.show(.text("# \(title)"))
    visit.child(content, "content")
  }
}

extension Section where Parent == Text, Content: View, Footer == EmptyView {
  public init<S: StringProtocol>(_ title: S, @ViewBuilder content: () -> Content) {
    self.title = String(title)
    self.content = content()
  }
}

public struct ForEach<Data, ID, Content> where Data: RandomAccessCollection, ID: Hashable {
  public var data: Data
  public var content: (Data.Element) -> Content
  let id: (Data.Element) -> ID
}

extension ForEach: View, PrimitiveView where Content: View {
  // Rows are made from the data of the last evaluation, later than it, as SwiftUI does.
  public func visit(_ visit: Visit) {
    for element in data {
      let key = id(element)
      visit.tracking { visit.child(content(element), key) }
    }
  }
}

extension ForEach where ID == Data.Element.ID, Content: View, Data.Element: Identifiable {
  public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
    self.data = data
    self.content = content
    id = { $0.id }
  }
}

extension ForEach where Content: View {
  public init(
    _ data: Data, id: KeyPath<Data.Element, ID>, @ViewBuilder content: @escaping (Data.Element) -> Content
  ) {
    self.data = data
    self.content = content
    self.id = { $0[keyPath: id] }
  }
}

// MARK: - Modifiers

struct EnvironmentWriter<Content: View, Value>: PrimitiveView {
  let content: Content
  let keyPath: WritableKeyPath<EnvironmentValues, Value>
  let value: Value

  func visit(_ visit: Visit) {
    var inner = visit
    inner.environment[keyPath: keyPath] = value
    inner.child(content, "content")
  }
}

struct Searchable<Content: View>: PrimitiveView {
  let content: Content
  let text: Binding<String>
  let prompt: String

  func visit(_ visit: Visit) {
    visit.tracking { visit.show(.field(prompt, text, shown: text.wrappedValue)) }
    visit.child(content, "content")
  }
}

extension View {
  public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some View {
    EnvironmentWriter(content: self, keyPath: keyPath, value: value)
  }

  public func searchable<S: StringProtocol>(text: Binding<String>, prompt: S) -> some View {
    Searchable(content: self, text: text, prompt: String(prompt))
  }
}

// MARK: - Scenes

@MainActor @preconcurrency public protocol Scene {}

struct EnvironmentScene<Content: Scene>: Scene {
  let content: Content
}

extension Scene {
  public func environment<V>(_ keyPath: WritableKeyPath<EnvironmentValues, V>, _ value: V) -> some Scene {
    EnvironmentScene(content: self)
  }
}

public struct WindowGroup<Content: View>: Scene {
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
}

// MARK: - Previews

@MainActor @preconcurrency public protocol PreviewModifier {
  associatedtype Context = Void
  associatedtype Body: View
  typealias Content = PreviewModifierContent
  @MainActor static func makeSharedContext() async throws -> Self.Context
  @ViewBuilder @MainActor func body(content: Self.Content, context: Self.Context) -> Self.Body
}

extension PreviewModifier where Context == Void {
  public static func makeSharedContext() async throws {}
}

public struct PreviewModifierContent: PrimitiveView {
  let visited: (Visit) -> Void
  public init(_ view: some View) { visited = { $0.child(view, "content") } }
  public func visit(_ visit: Visit) { visited(visit) }
}
