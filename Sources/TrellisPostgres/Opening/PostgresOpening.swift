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
    let store = PostgresStore(setup, pool)
    do {
      try store.withConnection { connection in
        do {
          try StoreMetadata(connection, setup).prepare()
        } catch let error as ServerError {
          throw error.storeError(setup.name, doing: "open the store")
        }
      }
    } catch {
      pool.close()
      throw error
    }
    return store
  }
}
