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

  /// The name of any operand in messages: that of a place, or the operand itself.
  static func name(_ operand: String) -> String { ServerPlace(operand)?.name ?? operand }

  private static func withoutPassword(_ address: String) -> String {
    guard let scheme = address.firstRange(of: "://"), let at = address.lastIndex(of: "@") else { return address }
    let user = address[scheme.upperBound..<at].prefix { $0 != ":" }
    return "\(address[..<scheme.upperBound])\(user)\(address[at...])"
  }

  /// Refuses an operand that means a server in another form, so that it does not become the name of a file.
  ///
  /// - Throws: ``ToolFailure``.
  static func refuseOtherForms(_ operand: String) throws(ToolFailure) {
    let isMeant =
      operand.firstMatch(of: /(?i)^\s*postgres(ql)?:\//) != nil
      || operand.firstMatch(of: /(?:^|\s)(host|hostaddr|dbname|user|password|service)\s*=/) != nil
    guard ServerPlace(operand) == nil, isMeant else { return }
    throw ToolFailure(
      .unreadable,
      "error: A store on a server is given as postgresql://user@host/database?schema=NAME, in small letters.")
  }
}

extension String {
  /// The text without the passwords of servers' addresses.
  var hidingPasswords: String {
    replacing(/(?i)(postgres(?:ql)?:\/{1,2}[^\s:@\/]*):\S*@/) { "\($0.output.1)@" }
      .replacing(/(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&']+)/) { "\($0.output.1)…" }
  }
}
