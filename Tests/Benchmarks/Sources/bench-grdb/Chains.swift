import GRDB
import Workload

extension GRDBBench {
  /// Nodes, each the child of the one before, in one transaction.
  func chainInsert(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        var last = Node(number: 0)
        try last.insert(db)
        for number in 1..<count {
          var node = Node(number: number, parentPk: last.pk)
          try node.insert(db)
          last = node
        }
      }
      return count
    }
  }

  private static let below = """
    WITH RECURSIVE walk(pk,number,parentPk) AS (SELECT pk,number,parentPk FROM node WHERE pk=?
    UNION ALL SELECT n.pk,n.number,n.parentPk FROM walk w JOIN node n ON n.parentPk=w.pk)
    """
  private static let above = """
    WITH RECURSIVE walk(pk,number,parentPk) AS (SELECT pk,number,parentPk FROM node WHERE pk=?
    UNION ALL SELECT n.pk,n.number,n.parentPk FROM walk w JOIN node n ON n.pk=w.parentPk)
    """

  func chainDown(_ store: GRDBStore) throws -> Work { try walk("\(Self.below) SELECT * FROM walk", from: 1, store) }
  func chainUp(_ store: GRDBStore) throws -> Work { try walk("\(Self.above) SELECT * FROM walk", from: count, store) }

  private func walk(_ text: String, from key: Int, _ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      let nodes = try pool.read { try Node.fetchAll($0, sql: text, arguments: [key]) }
      return orderedSum(nodes.map(\.number))
    }
  }

  /// A node with all below it. SQLite's own cascade ends at a depth of a thousand.
  func chainDelete(_ store: GRDBStore) throws -> Work {
    let pool = try store.pool()
    return {
      try pool.write { db in
        try db.execute(sql: "\(Self.below) DELETE FROM node WHERE pk IN (SELECT pk FROM walk)", arguments: [1])
        return db.changesCount
      }
    }
  }
}
