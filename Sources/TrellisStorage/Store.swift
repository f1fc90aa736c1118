public import TrellisSchema

/// A place where objects are kept: one for all contexts of a container, from any thread.
///
/// Whoever writes one finds the rules that it has to keep in `TrellisStoreTesting`, as cases to run against it.
public protocol Store: AnyObject, Sendable {
  /// What the store calls itself in messages, such as a file's path.
  var name: String { get }
  /// Makes a connection for one context.
  ///
  /// - Throws: ``StoreError``.
  func connect() throws -> any StoreConnection
  /// Takes keys that no object has or ever had, in this process or another.
  ///
  /// - Throws: ``StoreError``.
  func reserveKeys(_ count: Int64) throws -> Range<Int64>
  /// Gives back the upper part of the range reserved last, of which no object was made. A store may ignore it.
  func returnKeys(_ unused: Range<Int64>)
  /// Writes a copy of the store, as it is at one moment, to another file, while others go on using it. Without an
  /// implementation of yours, the store says that it cannot do that.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - replacing: whether a file that is there already may go.
  /// - Throws: ``StoreError``; then a file that was there is as it was.
  func backUp(to path: String, replacing: Bool) throws
  /// Removes the files of external data that no row and no value in memory refers to. Without an implementation of yours, there
  /// are none.
  ///
  /// - Returns: how many files went.
  /// - Throws: ``StoreError`` with the code `busy` when somebody else has the store open.
  func collectExternalFiles() throws -> Int
  /// Lets go of what the store holds open, as far as no connection needs it. Nobody connects to it, reserves keys or gives
  /// any back afterwards. A store that holds nothing open need not do anything.
  func close()
}

extension Store {
  public func close() {}
  public func collectExternalFiles() throws -> Int { 0 }

  public func backUp(to path: String, replacing: Bool) throws {
    throw StoreError(
      .unsupported, "The store \(name) cannot be copied to a file.",
      remedy: "Use a store that lies in a file, or save the objects to a second store.")
  }
}

/// One context's way to a store. It is used by one thread at a time.
public protocol StoreConnection: AnyObject {
  /// Reads the rows that a request asks for, in its order.
  ///
  /// - Parameter body: gets each row; the reader is the same each time and valid inside the call only. `body` must not
  ///   use the connection.
  /// - Throws: ``StoreError``, or what `body` throws.
  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws
  /// Reads the keys and entities of the rows that a request asks for, in its order.
  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws
  /// Reads some values of each row that a request asks for, in its order. A path through nil is null. A row comes once,
  /// whoever else has the same values.
  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws
  /// How the store would answer a request.
  func plan(of request: StoreRequest) throws -> QueryPlan
  /// Where the connection notes the statements that it runs; nil when nobody wants to know. A store without statements
  /// need not have it.
  var trace: StatementTrace? { get set }
  /// How many rows a request asks for, its limit and offset included.
  func count(_ request: StoreRequest) throws -> Int
  /// Reads the rows of an entity, and of those below it, that have these keys, in any order; keys without a row are left
  /// out. `keys` may be many.
  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws
  /// Reads the rows at the other end of a relationship that lies in their rows or in a join table, for many owners at
  /// once: each owner's members together, in their order (by place where the relationship is ordered, then by key). A
  /// one-to-one that is its own inverse lies in the rows of both: its members are the rows that refer to the owner.
  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void) throws
  /// The same, but keys only, with the member's place (0 where the relationship has no order).
  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void) throws
  /// The greatest place among each owner's members in an ordered relationship; owners without members are left out.
  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws
  /// Writes all of a request or nothing.
  ///
  /// Versions and unique keys are judged where nobody else can write any more, so that no two writers pass together. A context
  /// that is refused reads the rows, or looks for the keys by a fetch, decides and tries again; a store need not say who was in
  /// the way.
  ///
  /// - Returns: what went with it that the request does not name.
  /// - Throws: ``SaveConflict`` with every row that is not as its record remembers it, before anything is said of keys;
  ///   ``BrokenRules`` when the request's counts or denials do not hold; ``StoreError`` for everything else, with the code
  ///   `notUnique` when two rows would have one unique key.
  @discardableResult func save(_ request: SaveRequest) throws -> SaveOutcome
  /// Looks whether ``save(_:)`` would refuse a request as it is now, and writes nothing. A context asks that when it has to
  /// find out which of its changes can be saved. Without an implementation of yours nothing is ever refused, and what others
  /// have written is only known by the save.
  ///
  /// - Throws: as ``save(_:)``.
  func rehearse(_ request: SaveRequest) throws
  /// Gives every row that a request asks for new values, in one transaction. The versions of those rows grow by one, whatever
  /// values they had. Nobody asks it to change what is part of a unique key.
  ///
  /// Without an implementation of yours, the rows are read and saved; a store that can do it in one statement should.
  ///
  /// - Throws: ``RefusedRows`` when one of the rows is what must be refused; ``StoreError``.
  func updateAll(_ update: SetUpdate, in model: Model) throws -> SetOutcome
  /// Deletes every row that a request asks for, in one transaction, and does what the model's delete rules demand of others:
  /// members under cascade go too, references under nullify become nil and their rows' versions grow by one, a partner
  /// under deny that stays refuses everything. Pairs in join tables go with either row; one-way references become
  /// nil, a required one refuses.
  ///
  /// Without an implementation of yours, the rows are read and saved.
  ///
  /// - Throws: ``BrokenRules`` when a rule forbids it; ``StoreError``.
  func deleteAll(_ delete: SetDelete, in model: Model) throws -> SetOutcome
  /// Whether somebody wrote to the store who does not use the same ``Store`` object, such as another process, since a
  /// connection of it last said so. It is asked often, so it must cost next to nothing. Without an implementation of yours,
  /// nobody ever did.
  func noticesStrangers() -> Bool
  /// Makes every read from now on, until ``unpin()``, show the store as it is now. Nothing is saved meanwhile.
  ///
  /// - Throws: ``StoreError``; when the store cannot do that, one with the code `unsupported`.
  func pin() throws
  func unpin()
  /// Looks for what only the store itself can see: whether its file is whole, its indexes are there and agree with the rows,
  /// and the like. What rows, references and rules say is looked at by the container, through the other calls. It changes
  /// nothing. Without an implementation of yours, there is nothing to see.
  ///
  /// - Parameter body: gets each finding; it must not use the connection.
  /// - Throws: ``StoreError``, or what `body` throws.
  func check(_ body: (StoreFinding) throws -> Void) throws
}

extension StoreConnection {
  public func check(_ body: (StoreFinding) throws -> Void) throws {}

  public func rehearse(_ request: SaveRequest) throws {}

  public func noticesStrangers() -> Bool { false }

  public func pin() throws {
    throw StoreError(
      .unsupported, "The store cannot show one moment while others write.", remedy: "Read without pinned.")
  }

  public func unpin() {}

  public var trace: StatementTrace? {
    get { nil }
    set {}
  }
}

/// How to open a store; stores add their own, such as `.sqlite(at:)`.
public struct StoreConfiguration: Sendable {
  /// Opens, or creates, the store for a model.
  public let open: @Sendable (Model) throws -> any Store

  public init(open: @escaping @Sendable (Model) throws -> any Store) {
    self.open = open
  }
}
