public import TrellisAdoption

extension AdoptedDatabase {
  /// Reads the tables of a schema on a PostgreSQL server, at one moment.
  ///
  /// - Parameters:
  ///   - connectionString: The address as libpq has it. A password is better in its password file.
  ///   - schema: The schema with the tables.
  ///   - name: The name of the model; nil for that of the schema, or of the database for `public`.
  /// - Throws: ``AdoptionError``; `StoreError` if the server cannot be reached or refuses.
  /// - Complexity: linear in the size of the schema. Its types say what values are, so no rows are looked at.
  public convenience init(postgres connectionString: String, schema: String = "public", name: String? = nil) throws {
    try self.init(PostgresSource(connectionString, schema: schema), name: name, sample: 0, isExact: true)
  }
}
