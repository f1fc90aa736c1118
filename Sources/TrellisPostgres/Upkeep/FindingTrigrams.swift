import TrellisModel
import TrellisStorage

extension Trigrams {
  /// Finds the server's extension `pg_trgm`. It is never made here, because a backup of the schema then needs it.
  ///
  /// - Returns: nil if the model has no use of it, or if the role may not use it.
  static func find(_ connection: ServerConnection, for model: Model) throws(ServerError) -> Trigrams? {
    let isWanted = model.entities.contains { entity in
      entity.properties.contains { $0.attribute?.description.isSearchable == true }
    }
    guard isWanted else { return nil }
    let found = try connection.run(
      ServerStatement(
        "SELECT quote_ident(n.nspname::text), '가' COLLATE \"default\" ~ '[[:alpha:]]' FROM pg_extension AS e "
          + "JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm' "
          + "AND has_schema_privilege(n.oid, 'USAGE')"))
    guard found.count > 0, let schema = found.text(0, 0) else { return nil }
    return Trigrams(schema: schema, knowsAllLetters: found.integer(0, 1) == 1)
  }
}
