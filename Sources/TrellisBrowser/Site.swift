import Foundation
import TrellisDynamic
package import TrellisModel
package import TrellisRuntime
import TrellisStorage

/// The pages about one store, for the person who has started the program.
///
/// The address has a random token, which no other page and no other user of the machine knows. The header `Host` must be
/// that of this machine, so that a name which is made to lead here reaches nothing. What changes something is a form of
/// this site.
package final class Site: Sendable {
  /// The name of the store in the pages.
  let name: String
  /// The first part of every path.
  let token: String
  /// Whether the pages have forms that change the store.
  let isWritable: Bool
  /// The picture of the model; nil if there is none.
  private let picture: (@Sendable (Model, _ address: (String) -> String) -> String)?
  private let store: OpenedStore

  /// - Parameters:
  ///   - name: The name of the store in the pages.
  ///   - isWritable: Whether the pages have forms that change the store.
  ///   - token: The secret part of the address.
  ///   - picture: Draws the model as SVG. Its second parameter gives the address of an entity's page.
  ///   - open: Opens the store with dynamic objects. It is called again when another program has replaced the file.
  /// - Throws: Errors of `open`.
  package init(
    name: String, isWritable: Bool, token: String = Site.randomToken(),
    picture: (@Sendable (Model, _ address: (String) -> String) -> String)? = nil,
    open: @escaping @Sendable () throws -> PersistentContainer
  ) throws {
    self.name = name
    self.token = token
    self.isWritable = isWritable
    self.picture = picture
    store = try OpenedStore(open)
  }

  /// 128 random bits.
  package static func randomToken() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      let digits = String(UInt32.random(in: .min ... .max, using: &generator), radix: 16)
      return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }.joined()
  }

  // MARK: Requests

  /// Answers a request that came to a port of this machine.
  func answer(_ request: HTTPRequest, port: UInt16) -> HTTPResponse {
    if let refused = refuse(request, port: port) { return refused }
    do {
      return try store.use { container in try page(Array(request.path.dropFirst()), request, container) }
    } catch {
      let fault = PageFault(error)
      return HTTPResponse(Layout(self).page("Not possible", [], Layout.fault(fault.message)), fault.status)
    }
  }

  /// The response to a request that reaches no page, whatever its body is; nil for others.
  func refuse(_ request: HTTPRequest, port: UInt16) -> HTTPResponse? {
    refusal(of: request, port).map { HTTPResponse(HTML.refusal($0.message), $0.status) }
  }

  private func refusal(of request: HTTPRequest, _ port: UInt16) -> RefusedRequest? {
    let hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
    guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
      return RefusedRequest(.misdirected, "This address does not lead here.")
    }
    guard let first = request.path.first, Self.isSame(first, token) else {
      return RefusedRequest(.notFound, "There is nothing at this address. Open the one that the program has printed.")
    }
    guard request.method == .post else { return nil }
    if let origin = request.headers["origin"], origin != "http://\(host.lowercased())" {
      return RefusedRequest(.forbidden, "A page from elsewhere may change nothing here.")
    }
    if let site = request.headers["sec-fetch-site"], site != "same-origin" {
      return RefusedRequest(.forbidden, "A page from elsewhere may change nothing here.")
    }
    return isWritable ? nil : RefusedRequest(.forbidden, "The store is only read. Start with --write to change it.")
  }

  /// Compares in a time that does not tell where two texts differ.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private func page(
    _ path: [String], _ request: HTTPRequest, _ container: PersistentContainer
  ) throws -> HTTPResponse {
    let context = container.newContext()
    let isPost = request.method == .post
    switch (isPost, path.first, path.count) {
    case (false, nil, 0):
      return try StartPage(
        site: self, context: context, hasPicture: picture != nil, hasHistory: Self.hasHistory(container)
      ).response()
    case (false, "style.css", 1): return HTTPResponse(Layout.style, "text/css; charset=utf-8")
    case (false, "diagram.svg", 1):
      guard let picture else { throw PageFault.nothing }
      var response = HTTPResponse(picture(container.model) { address("entity", $0) }, "image/svg+xml; charset=utf-8")
      response.hasOwnStyle = true
      return response
    case (false, "entity", 2):
      return try EntityPage(site: self, context: context, entity: try context.entity(path[1])).response(request.query)
    case (_, "entity", 3) where path[2] == "new":
      let form = try EditPage(site: self, context: context, entity: try context.entity(path[1]), object: nil)
      return try isPost ? form.save(request.form) : form.response()
    case (_, "object", 3...):
      return try object(path, request, container, context)
    case (_, "history", _), (_, "past", 3...):
      return try history(path, request, container, context)
    default: throw PageFault.nothing
    }
  }

  /// Whether the store records what saves change.
  private static func hasHistory(_ container: PersistentContainer) -> Bool {
    container.model.hasHistory && (try? container.historyToken()) != nil
  }

  private func history(
    _ path: [String], _ request: HTTPRequest, _ container: PersistentContainer, _ context: ManagedObjectContext
  ) throws -> HTTPResponse {
    let isPost = request.method == .post
    if path[0] == "history" {
      if !isPost && path.count == 1 { return try HistoryPage(site: self, container: container).response(request.query) }
      guard path.count > 1, let number = Int64(path[1]), let save = try container.transaction(number) else {
        throw PageFault(.notFound, "The history has no such save.")
      }
      let page = SavePage(site: self, container: container, save: save)
      guard path.count == 2 else { throw PageFault.nothing }
      return try isPost ? page.undo(in: context) : page.response()
    }
    let entity = try context.entity(path[1])
    guard path.count == 3, let key = Int64(path[2]), key > 0 else { throw PageFault.nothing }
    let page = PastPage(site: self, container: container, context: context, entity: entity, key: key)
    return try isPost ? page.restore(request.form) : page.response()
  }

  private func object(
    _ path: [String], _ request: HTTPRequest, _ container: PersistentContainer, _ context: ManagedObjectContext
  ) throws -> HTTPResponse {
    let entity = try context.entity(path[1])
    guard let key = Int64(path[2]), key > 0, let object = try context.object(entity.name, key) else {
      throw PageFault(.notFound, "There is no \(path[1])#\(path[2]). It may have been deleted.")
    }
    let isPost = request.method == .post
    switch (isPost, path.count > 3 ? path[3] : nil, path.count) {
    case (false, nil, 3):
      return try ObjectPage(
        site: self, object: object, hasHistory: Self.hasHistory(container)
      ).response(request.query)
    case (false, "data", 5): return try DataResponse(object: object).response(path[4])
    case (_, "edit", 4):
      let form = try EditPage(site: self, context: context, entity: try object.ownEntity(), object: object)
      return try isPost ? form.save(request.form) : form.response()
    case (_, "delete", 4):
      let page = DeletePage(site: self, context: context, object: object)
      return try isPost ? page.delete(request.form) : page.response()
    default: throw PageFault.nothing
    }
  }

  // MARK: Addresses

  /// The address of a page of this site.
  func address(_ parts: String..., query: [(String, String)] = []) -> String {
    let path = "/" + ([token] + parts).map(FormFields.encoded).joined(separator: "/")
    if query.isEmpty { return parts.isEmpty ? path + "/" : path }
    return path + "?" + query.map { "\(FormFields.encoded($0))=\(FormFields.encoded($1))" }.joined(separator: "&")
  }

  func address(of object: DynamicObject) -> String {
    address("object", object.entityName, "\(object.key)")
  }
}

/// The reason why there is no page, with its status.
struct PageFault: Error {
  let status: HTTPStatus
  let message: String

  init(_ status: HTTPStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  static let nothing = PageFault(.notFound, "There is no such page.")

  /// What an error says, and whether the request or the store is the reason.
  init(_ error: any Error) {
    switch error {
    case let error as PageFault: self = error
    case is DynamicError, is PredicateFormatError: self.init(.badRequest, "\(error)")
    case let error as StoreError: self.init(Self.status(error.code), "\(error)")
    case let error as ContextError where error.cause is StoreError:
      let code = (error.cause as? StoreError)?.code ?? .internalError
      self.init(Self.status(code), "\(error)")
    default: self.init(.serverError, "\(error)")
    }
  }

  private static func status(_ code: StoreError.Code) -> HTTPStatus {
    switch code {
    case .limit, .unsupported, .unstorableValue: .badRequest
    case .busy, .contended: .unavailable
    default: .serverError
    }
  }
}

extension ManagedObjectContext {
  /// The entity of a name in an address.
  fileprivate func entity(_ name: String) throws(PageFault) -> Entity {
    guard let entity = model.entity(named: name) else {
      throw PageFault(.notFound, "The model has no entity of this name.")
    }
    return entity
  }
}

// MARK: - Opened store

/// A store that is opened again when another program has replaced or migrated its file.
private final class OpenedStore: Sendable {
  private let open: @Sendable () throws -> PersistentContainer
  private let container: Locked<PersistentContainer>

  init(_ open: @escaping @Sendable () throws -> PersistentContainer) throws {
    self.open = open
    container = Locked(try open())
  }

  func use<Result>(_ body: (PersistentContainer) throws -> Result) throws -> Result {
    let present = container.withLock { $0 }
    do {
      return try body(present)
    } catch let error where Self.isStale(error) {
      present.close()
      let fresh = try open()
      container.withLock { $0 = fresh }
      return try body(fresh)
    }
  }

  private static func isStale(_ error: any Error) -> Bool {
    let cause = (error as? ContextError)?.cause ?? error
    guard let code = (cause as? StoreError)?.code else { return false }
    return [.changedByOthers, .migratedByOthers, .closed].contains(code)
  }
}

// MARK: - Running

#if !os(Windows)

  /// A site that is being served.
  package final class RunningSite: Sendable {
    private let server: LocalServer
    /// The address to open.
    package let address: String

    /// Begins to listen on the loopback address.
    ///
    /// - Parameter port: The port; 0 for any free one.
    /// - Throws: ``ServerError`` if the port is taken.
    package init(_ site: Site, port: UInt16 = 0) throws(ServerError) {
      // The port is known only when the server listens, and requests come later.
      let listened = Locked<UInt16>(port)
      server = try LocalServer(
        port: port, refuse: { request in site.refuse(request, port: listened.withLock { $0 }) },
        answer: { request in site.answer(request, port: listened.withLock { $0 }) })
      let port = server.port
      listened.withLock { $0 = port }
      address = "http://127.0.0.1:\(port)\(site.address())"
    }

    /// Answers requests until ``stop()``.
    package func run() { server.run() }

    package func stop() { server.stop() }
  }

#endif
