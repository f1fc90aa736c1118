public import Observation
@_spi(Generated) import TrellisRuntime
public import Trellis

/// The state behind a form: a child context, in it the object that is edited or a new one, and what is wrong with it.
///
/// ```swift
/// let form = try ObjectForm(editing: entry)
/// form.object.content = "비가 왔다"
/// if !form.save() { show(form.failures, form.error) }
/// ```
/// Until ``save()``, only the form shows what is edited. It works with Swift's Observation: a view that reads the object, its
/// failures or whether anything has changed is notified once before each edit.
@MainActor public final class ObjectForm<Object: FetchableObject>: Observable
where Object.Columns.Object == Object {
  /// The form's own context. Whatever belongs to the edits, such as objects for relationships, is made or looked up in it.
  public let context: ManagedObjectContext
  /// The object that is edited, in the form's own context.
  public let object: Object
  /// Whether the form has made the object.
  public let isNew: Bool

  private let parent: ManagedObjectContext
  private let registrar = ObservationRegistrar()
  /// What has been passed to the parent and is not in the store, since the parent could not be saved.
  private var passed: Set<AnyObjectID> = []
  private var refusal: Refusal?
  private var problem: (any Error)?

  /// What the last save was refused for, which counts until the object has other values.
  private struct Refusal {
    let failures: [ValidationFailure]
    let values: Object.Columns.Snapshot
  }

  /// Creates a form for an object.
  ///
  /// - Parameter object: An object of the main context, or of a child of it such as that of another form.
  /// - Throws: ``ScreenError`` if the object is deleted, or belongs to no context any more; ``StoreError`` if the store fails.
  public init(editing object: Object) throws {
    guard let parent = object.managedObjectContext else { throw ScreenError(.noContext, "\(Object.self)") }
    let context = parent.newChildContext()
    guard let draft = try context.object(with: object.objectID) else { throw ScreenError(.noObject, "\(Object.self)") }
    context.isObserving = true
    self.parent = parent
    self.context = context
    self.object = draft
    isNew = false
  }

  /// Creates a form for a new object.
  ///
  /// ```swift
  /// let form = ObjectForm(in: container.mainContext) { EmotionDiary(in: $0, emotion: .calm, content: "") }
  /// ```
  /// - Parameters:
  ///   - parent: The context that the object is saved to: the main context, or a child of it such as that of another form.
  ///   - make: Makes the object in the form's own context.
  /// - Throws: what `make` throws.
  public init(in parent: ManagedObjectContext, new make: (ManagedObjectContext) throws -> Object) rethrows {
    let context = parent.newChildContext()
    context.isObserving = true
    object = try make(context)
    self.parent = parent
    self.context = context
    isNew = true
  }

  // MARK: What is wrong

  /// The rules that the object breaks as it is now, and those that the last save was refused for, as long as the object has
  /// the same values. The rules of the model are checked at each read; so read it once for all fields.
  public var failures: FormFailures<Object> {
    registrar.access(self, keyPath: \.failures)
    var found: [ValidationFailure] = []
    do {
      try object.validate()
    } catch let error as ValidationError {
      found = error.failures
    } catch {
      // The store could not be asked. The save says so.
    }
    if let refusal, refusal.values == Object.Columns.snapshot(of: object) {
      found += refusal.failures.filter { !found.contains($0) }
    }
    return FormFailures(object, found)
  }

  /// Whether the object breaks no rule that is known before the save.
  public var isValid: Bool { failures.isEmpty }

  /// Why the last save or cancellation failed, other than by broken rules: a conflict with another writer, a failure of the
  /// store.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return problem
  }

  /// Whether there is anything to save. A form for a new object always has.
  public var hasChanges: Bool {
    registrar.access(self, keyPath: \.failures)
    // An edit of the object notifies those who have asked whether there is any.
    _ = Object.Columns.snapshot(of: object)
    return context.hasChanges || !passed.isEmpty
  }

  // MARK: Ending

  /// Saves what is edited: to the store, or, in a form within a form, to the outer one.
  ///
  /// If the store refuses it, nothing is lost: the form stays as it is, and can be corrected and saved again.
  ///
  /// - Returns: whether it was saved. If not, ``failures`` or ``error`` says why.
  @discardableResult public func save() -> Bool {
    let edited = (context.insertedObjects + context.updatedObjects + context.deletedObjects).map { AnyObjectID($0) }
    do {
      try context.save()
      passed.formUnion(edited)
      if parent.parent == nil { try parent.save() }
      passed = []
      settle(nil, nil)
      return true
    } catch let error as ValidationError {
      settle(Refusal(failures: error.failures, values: Object.Columns.snapshot(of: object)), nil)
    } catch {
      settle(nil, error)
    }
    return false
  }

  /// Discards what is edited. A new object belongs to no context afterwards.
  ///
  /// A form that is released without a save needs no call, unless its last save has failed: what it has passed to its parent
  /// context is discarded there, with other unsaved changes of the same objects.
  public func cancel() {
    context.rollback()
    do {
      for object in parent.insertedObjects + parent.updatedObjects + parent.deletedObjects
      where passed.contains(AnyObjectID(object)) {
        try object.rollback()
      }
      passed = []
      settle(nil, nil)
    } catch {
      settle(nil, error)
    }
  }

  private func settle(_ refusal: Refusal?, _ problem: (any Error)?) {
    registrar.withMutation(of: self, keyPath: \.failures) {
      registrar.withMutation(of: self, keyPath: \.error) {
        self.refusal = refusal
        self.problem = problem
      }
    }
  }
}

/// The rules that the object of a form breaks.
@MainActor public struct FormFailures<Object: FetchableObject> {
  /// All of them, those of the form's other objects included.
  public let all: [ValidationFailure]
  private let object: Object

  init(_ object: Object, _ all: [ValidationFailure]) {
    self.object = object
    self.all = all
  }

  /// Whether no rule is broken.
  public var isEmpty: Bool { all.isEmpty }

  /// The rules that a property breaks.
  public func of<Value>(_ property: KeyPath<Object, Value>) -> [ValidationFailure] {
    let name = ValidationFailure(object, property, "").property
    return all.filter { $0.object == AnyObjectID(object) && $0.property == name }
  }

  /// The first rule that a property breaks, in words to be read after the property's name; nil if it breaks none.
  public func message<Value>(for property: KeyPath<Object, Value>) -> String? { of(property).first?.message }

  /// The rules that concern no property of the object: those about the object as a whole, and about other objects.
  public var others: [ValidationFailure] { all.filter { $0.object != AnyObjectID(object) || $0.property.isEmpty } }
}
