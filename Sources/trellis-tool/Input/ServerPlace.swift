import TrellisStorage

/// A store on a server, as an operand names it: `postgresql://user@host/database?schema=NAME`.
struct ServerPlace: Equatable {
  /// The address, without what only Trellis knows.
  let connectionString: String
  let schema: String
  /// The place in messages, without a password.
  let name: String

  /// - Returns: nil for an operand that is not the address of a server.
  init?(_ operand: String) {
    guard ["postgresql://", "postgres://"].contains(where: operand.hasPrefix) else { return nil }
    let parts = operand.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var items = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
    var schema = "public"
    items.removeAll { item in
      guard item.hasPrefix("schema=") else { return false }
      schema = item.dropFirst("schema=".count).removingPercentEncoding ?? ""
      return true
    }
    self.schema = schema
    connectionString = String(parts[0]) + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    name = Self.withoutPassword(String(parts[0])) + ", schema \(schema)"
  }

  private static func withoutPassword(_ address: String) -> String {
    guard let scheme = address.firstRange(of: "://"), let at = address.lastIndex(of: "@") else { return address }
    let user = address[scheme.upperBound..<at].prefix { $0 != ":" }
    return "\(address[..<scheme.upperBound])\(user)\(address[at...])"
  }
}
