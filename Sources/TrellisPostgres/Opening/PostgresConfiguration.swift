public import Foundation
import TrellisModel
public import TrellisStorage

extension StoreConfiguration {
  /// A store on a PostgreSQL server, which many programs on many machines can use at once.
  ///
  /// ```swift
  /// let container = try PersistentContainer(
  ///   model: .shop, store: .postgres("postgresql://shop@db.example.org/shop", schema: "shop", connections: 16))
  /// ```
  /// The tables are in one schema, with native types, unique keys and foreign keys. A schema that does not exist, or is
  /// empty, becomes a new store. A store that was made with a former version of the model is migrated. The schema of
  /// another model, of a newer version of the model, of a newer Trellis or of another program is refused and not changed.
  ///
  /// A text with U+0000, and a date before 4714-11-24 BC, cannot be saved, because the server has no form for them.
  ///
  /// - Parameters:
  ///   - connectionString: What libpq accepts: a URI such as `postgresql://user@host:5432/database?sslmode=verify-full`,
  ///     or keywords with values. What it leaves out comes from libpq's environment variables, such as `PGPASSWORD`, or
  ///     from its password file. Passwords are never part of messages.
  ///   - schema: The schema of the tables. It is created if it does not exist and the role may do so.
  ///   - connections: The maximum number of connections for calls, at least one. Contexts borrow one for each call, so
  ///     this limits how many read or save at the same time, and not how many there are. A container runs as many blocks
  ///     of `perform` at a time. One more connection hears of the saves of other programs.
  ///   - timeout: The number of seconds that a call waits for a connection of this store while all are in use, for a
  ///     server that it connects to, and for each answer of the server. A call whose answer does not come throws
  ///     ``StoreError`` with the code `timedOut`.
  ///   - statementTimeout: The number of seconds that a call waits for each answer, if it is not that of `timeout`: for
  ///     reports and other statements that take long. The statements of a migration have at least ten minutes, unless
  ///     this says otherwise.
  ///   - replica: The address of a replica of the server, for reads of contexts that ask for it. Nil without a replica.
  ///   - throughTransactionPool: Whether a pool such as PgBouncer, in its mode `transaction`, lies between the program and
  ///     the server. Statements are then not prepared, and the saves of others are noticed by asking every two seconds.
  ///   - migration: What happens to a store that was made with a former version of the model. Unlike a file, it is not
  ///     copied before something is lost: that is left to the server's backups.
  /// - Throws: Opening throws ``StoreError``: `libraryUnavailable` without libpq 14 or later, `cannotOpen` if the server
  ///   cannot be reached, refuses the role or has another encoding than UTF-8, `foreignFile` for a schema with tables of
  ///   another program, `dataLoss` or `unanswered` if the model does not say what becomes of the stored data,
  ///   `newerModel` if the store has a newer version of the model.
  public static func postgres(
    _ connectionString: String, schema: String = "public", connections: Int = 8, timeout: TimeInterval = 30,
    statementTimeout: TimeInterval? = nil, replica: String? = nil, throughTransactionPool: Bool = false,
    migration: MigrationPolicy = .automatic
  ) -> StoreConfiguration {
    func limited(_ seconds: TimeInterval) -> TimeInterval { seconds.isNaN ? 0 : max(0, min(seconds, 1_000_000)) }
    return StoreConfiguration(
      PostgresOptions(
        connectionString: connectionString, schema: schema, replica: replica, connections: max(1, connections),
        timeout: limited(timeout),
        statementTimeout: statementTimeout.map(limited), usesTransactionPool: throughTransactionPool,
        migration: migration))
  }

  /// A store that is only read: the server refuses all writes of the connections. Objects can be made, and not saved.
  package static func postgresReading(_ connectionString: String, schema: String) -> StoreConfiguration {
    StoreConfiguration(
      PostgresOptions(
        connectionString: connectionString, schema: schema, connections: 2, migration: .refused, isReadOnly: true))
  }

  private init(_ options: PostgresOptions) {
    self.init(
      open: { model, observer in try PostgresOpening(model, options).open(observer) },
      plan: { model in try PostgresOpening(model, options).plan() })
  }
}
