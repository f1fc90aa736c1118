import Foundation
import TrellisModel
import TrellisStorage

/// Opens or creates the store of a model in a schema.
struct PostgresOpening {
  let model: Model
  let options: PostgresOptions

  init(_ model: Model, _ options: PostgresOptions) {
    self.model = model
    self.options = options
  }

  func open() throws -> PostgresStore {
    let address = try ServerAddress(options.connectionString)
    let setup = PostgresSetup(address, options, model)
    if let obstacle = setup.schema.obstacle {
      throw StoreError(
        .limit, "PostgreSQL cannot keep this model: \(obstacle).", remedy: "Choose another name in the model.")
    }
    let pool = ServerPool(name: setup.name, most: options.connections, timeout: options.timeout) {
      () throws(StoreError) in try setup.connect()
    }
    let origin = Int64.random(in: 1 ... .max)
    do {
      let connection = try pool.take()
      defer { pool.giveBack(connection) }
      try StoreMetadata(connection, setup).prepare()
      let history = try HistoryOpening(connection, setup, origin: origin).open()
      return PostgresStore(setup, pool, history, origin: origin)
    } catch {
      pool.close()
      throw (error as? ServerError)?.storeError(setup.name, doing: "open the store") ?? error
    }
  }
}
