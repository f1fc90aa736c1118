internal import CPQ
import TrellisStorage

/// The server, the database and the role that a connection string names, in libpq's words.
struct ServerAddress: Sendable {
  struct Option: Sendable {
    let keyword: String
    let value: String
  }

  private let options: [Option]
  /// Where the server is, without a password, for messages.
  let name: String
  /// The servers that libpq tries one after the other: hosts with their ports.
  private let servers: [(host: String, port: String?)]
  /// The number of servers.
  var serverCount: Int { max(1, servers.count) }

  /// - Throws: ``StoreError`` if libpq does not accept the string, or reads a part of a password as something else. The
  ///   message has no part of a password.
  init(_ connectionString: String) throws(StoreError) {
    try ServerLibrary.load()
    if connectionString.allSatisfy(\.isWhitespace) { throw Self.refusal("it is empty") }
    if Self.hasMisplacedSign(connectionString) { throw Self.refusal("an @ stands where none can be") }
    var message: UnsafeMutablePointer<CChar>?
    guard let parsed = trellis_PQconninfoParse(connectionString, &message) else {
      let text = message.map { String(cString: $0) } ?? ""
      if let message { trellis_PQfreemem(message) }
      throw Self.refusal(Self.reason(text, of: connectionString))
    }
    defer { trellis_PQconninfoFree(parsed) }
    var found: [Option] = []
    var option = parsed
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.value {
        found.append(Option(keyword: String(cString: keyword), value: String(cString: value)))
      }
      option += 1
    }
    options = found
    func value(_ keyword: String) -> String? { found.first { $0.keyword == keyword }?.value }
    // Several hosts, and a port for all or for each of them, are separated by commas.
    let hosts = (value("host") ?? value("hostaddr") ?? "localhost").split(separator: ",")
    let ports = (value("port") ?? "").split(separator: ",", omittingEmptySubsequences: false)
    servers = hosts.enumerated().map { number, host in
      let port = ports.count > 1 ? ports.indices.contains(number) ? ports[number] : "" : ports.first ?? ""
      return (String(host), port.isEmpty ? nil : String(port))
    }
    let places = servers.map { server in server.port.map { "\(server.host):\($0)" } ?? server.host }
    name = "postgresql://\(places.joined(separator: ","))/\(value("dbname") ?? value("user") ?? "")"
  }

  private static func refusal(_ reason: String) -> StoreError {
    StoreError(
      .cannotOpen, "The address of the server cannot be read: \(reason).",
      remedy: "Write postgresql://user:password@host:port/database, with %2F for / and %40 for @ and %25 for % in a "
        + "password, or keywords and values as libpq reads them.")
  }

  /// The parts of a URL as libpq separates them; nil for keywords and values.
  private static func parts(of text: String) -> (hosts: Substring, database: Substring, options: Substring)? {
    guard let scheme = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else { return nil }
    let place = text.dropFirst(scheme.count)
    let credentials = place.prefix { $0 != "/" }.firstIndex(of: "@") ?? place.startIndex
    let hosts = place[credentials...].prefix { $0 != "/" && $0 != "?" }
    let database = place[hosts.endIndex...].prefix { $0 != "?" }
    return (hosts.dropFirst(hosts.first == "@" ? 1 : 0), database, place[database.endIndex...])
  }

  /// Whether libpq would read a part of a URL's password as a host, a port or a database, because the password has a sign
  /// that has to be encoded.
  private static func hasMisplacedSign(_ text: String) -> Bool {
    parts(of: text).map { $0.hosts.contains("@") || $0.database.contains("@") } ?? false
  }

  /// What is wrong with a string that libpq does not accept. Its own words may repeat a part of a password.
  private static func reason(_ message: String, of text: String) -> String {
    if text.firstRange(of: #/%(?![0-9a-fA-F]{2})/#) != nil { return "after a % it has no two hexadecimal digits" }
    let options = parts(of: text).map(\.options) ?? text[...]
    guard !options.contains("@"), !options.contains("password"),
      let name = message.firstMatch(of: #/"([A-Za-z_]+)"/#)?.1, options.contains(name)
    else { return "libpq does not take it" }
    return "libpq does not take its option \(name)"
  }

  /// The keywords and values of a connection, with Trellis's own where the string has none.
  func keywords(timeout: Double, first: Int = 0) -> [(keyword: String, value: String)] {
    var all = options.map { (keyword: $0.keyword, value: Self.rotated($0, by: first)) }
    func addUnlessGiven(_ keyword: String, _ value: String) {
      if !all.contains(where: { $0.keyword == keyword }) { all.append((keyword, value)) }
    }
    // libpq waits as long for each server, so a silent one before the right one must not take all of the time.
    addUnlessGiven("connect_timeout", String(max(2, Int((timeout / Double(serverCount)).rounded(.up)))))
    addUnlessGiven("application_name", "trellis")
    // A server that has gone away without a word is noticed after half a minute.
    addUnlessGiven("keepalives_idle", "15")
    addUnlessGiven("keepalives_interval", "5")
    addUnlessGiven("keepalives_count", "3")
    addUnlessGiven("tcp_user_timeout", "30000")
    all.removeAll { $0.keyword == "client_encoding" }
    all.append(("client_encoding", "UTF8"))
    return all
  }

  /// The lists of an address begin with the same server.
  private static func rotated(_ option: Option, by first: Int) -> String {
    guard ["host", "hostaddr", "port"].contains(option.keyword) else { return option.value }
    let parts = option.value.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return option.value }
    let start = first % parts.count
    return (parts[start...] + parts[..<start]).joined(separator: ",")
  }

  /// The number of a server of the address; nil if libpq has found it elsewhere.
  func number(host: String, port: String) -> Int? {
    servers.firstIndex { $0.host == host && ($0.port ?? port) == port }
  }
}
