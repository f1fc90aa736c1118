import TrellisModel
@_spi(Generated) public import TrellisRuntime
import TrellisStorage

/// The objects that a replica gets from a server: those of some fetch requests, with the objects that these require.
///
/// ```swift
/// let server = try SyncServer(office, scopes: { request, user in
///   guard let user, request?.name == "mine" else { return nil }
///   return SyncScope(List.where { $0.owner.name == user }, Person.where { $0.name == user })
/// })
/// ```
/// An object requires the partners without which the model's rules would not hold in the replica: the partner of each
/// to-one that is not optional, and all members of a to-many with a least number of them. References to any other object
/// outside of the scope are nil in the replica, and its to-many relationships have the members in the scope only.
///
/// A request contains no `now()`, since its objects would change without a save. Requests with other values than before,
/// such as a day, are another scope, which a replica gets as a whole.
public struct SyncScope: Sendable {
  /// What a replica asks for: the name of a scope, with parameters. The server decides what they mean, and for whom.
  public struct Request: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name.
    public let name: String
    /// The values of the parameters by name.
    public let parameters: [String: String]

    /// Creates the request for a scope.
    public init(_ name: String, _ parameters: [String: String] = [:]) {
      (self.name, self.parameters) = (name, parameters)
    }

    /// Creates the request for a scope without parameters.
    public init(stringLiteral name: String) { self.init(name) }

    /// The value of a parameter; nil if it is not given.
    public subscript(parameter: String) -> String? { parameters[parameter] }

    /// The name, and the names of the parameters.
    public var description: String {
      parameters.isEmpty ? name : "\(name)(\(parameters.keys.sorted().joined(separator: ", ")))"
    }
  }

  /// One fetch request.
  struct Part: Sendable {
    /// The request as text, which is equal only if its objects are at any moment.
    let text: @Sendable (ManagedObjectContext) throws -> String
    let entity: @Sendable (Model) throws -> Int
    let keys: @Sendable (ManagedObjectContext) throws -> [Int64]
  }

  /// The requests; nil for all objects.
  let parts: [Part]?

  private init(parts: [Part]?) { self.parts = parts }

  /// All objects of the server.
  public static let everything = SyncScope(parts: nil)

  /// Creates a scope of the objects that belong to any of some requests.
  public init<each Columns: EntityColumns>(_ requests: repeat FetchRequest<each Columns>) {
    var parts: [Part] = []
    for request in repeat each requests { parts.append(Part(request)) }
    self.parts = parts
  }

  /// Creates a scope of requests by names and formats, for programs that know a model at run time only.
  init(_ requests: [(entity: String, format: String?, arguments: [FormatArgument])]) {
    parts = requests.map { Part($0.entity, $0.format, $0.arguments) }
  }
}

extension SyncScope.Part {
  fileprivate init<Columns: EntityColumns>(_ request: FetchRequest<Columns>) {
    text = { context in "\(request) where \(try context.formatText(of: request))" }
    entity = { _ in Columns.Object._entity }
    keys = { context in try context.ids(of: request).map(\.key) }
  }

  fileprivate init(_ name: String, _ format: String?, _ arguments: [FormatArgument]) {
    entity = { model in
      guard let entity = model.entity(named: name) else { throw SyncError.notAllowed }
      return entity.index
    }
    let entity = entity
    let request: @Sendable (ManagedObjectContext) throws -> StoreRequest = { context in
      try context.request(for: entity(context.model), format: format, arguments: arguments)
    }
    text = { context in
      let request = try request(context)
      let condition = try (request.predicate ?? .constant(true)).formatText(of: request.entity, in: context.model)
      return "\(name) where \(condition)"
    }
    keys = { context in try context.keys(of: request(context)) }
  }
}
