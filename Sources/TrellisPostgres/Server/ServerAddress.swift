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

  /// - Throws: ``StoreError`` if libpq does not accept the string. The message does not repeat it.
  init(_ connectionString: String) throws(StoreError) {
    try ServerLibrary.load()
    var message: UnsafeMutablePointer<CChar>?
    guard let parsed = trellis_PQconninfoParse(connectionString, &message) else {
      if let message { trellis_PQfreemem(message) }
      throw StoreError(
        .cannotOpen, "The connection string of the server is none.",
        remedy: "Write postgresql://user@host/database, or keywords and values as libpq reads them.")
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
    let ports = (value("port") ?? "").split(separator: ",")
    let places = hosts.enumerated().map { number, host in
      let port = ports.count > number ? ports[number] : ports.first
      return port.map { "\(host):\($0)" } ?? String(host)
    }
    name = "postgresql://\(places.joined(separator: ","))/\(value("dbname") ?? value("user") ?? "")"
  }

  /// The keywords and values of a connection, with Trellis's own where the string has none.
  func keywords(timeout: Double) -> [(keyword: String, value: String)] {
    var all = options.map { (keyword: $0.keyword, value: $0.value) }
    func addUnlessGiven(_ keyword: String, _ value: String) {
      if !all.contains(where: { $0.keyword == keyword }) { all.append((keyword, value)) }
    }
    addUnlessGiven("connect_timeout", String(max(2, Int(timeout.rounded(.up)))))
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
}
