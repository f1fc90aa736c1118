import Workload

extension Floor {
  /// Nodes, each the child of the one before, in one transaction.
  func chainInsert(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.execute("BEGIN IMMEDIATE; INSERT INTO node(pk,version,number) VALUES(1,1,0)")
      connection.with("INSERT INTO node(version,number,parent) VALUES(1,?,?)") { statement in
        for number in 1..<count {
          statement.bind(1, number)
          statement.bind(2, connection.lastKey)
          statement.run()
        }
      }
      connection.execute("COMMIT")
      return count
    }
  }

  /// Everything below a node.
  private static let below = """
    WITH RECURSIVE walk(pk,number) AS (
    SELECT pk,number FROM node WHERE pk=? UNION ALL SELECT n.pk,n.number FROM walk w JOIN node n ON n.parent=w.pk)
    """

  /// Everything above a node.
  private static let above = """
    WITH RECURSIVE walk(pk,number,parent) AS (
    SELECT pk,number,parent FROM node WHERE pk=?
    UNION ALL SELECT n.pk,n.number,n.parent FROM walk w JOIN node n ON n.pk=w.parent)
    """

  func chainDown(_ store: FloorStore) -> Work { walk("\(Self.below) SELECT pk,number FROM walk", from: 1, store) }

  func chainUp(_ store: FloorStore) -> Work { walk("\(Self.above) SELECT pk,number FROM walk", from: count, store) }

  private func walk(_ text: String, from key: Int, _ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with(text) { rows in
        rows.bind(1, key)
        var nodes: [Node] = []
        while rows.next() { nodes.append(Node(key: rows.key(0), number: rows.integer(1))) }
        return orderedSum(nodes.map(\.number))
      }
    }
  }

  /// A node with all below it.
  func chainDelete(_ store: FloorStore) -> Work {
    let connection = store.connection
    return {
      connection.with("\(Self.below) DELETE FROM node WHERE pk IN (SELECT pk FROM walk)") { statement in
        statement.bind(1, 1)
        statement.run()
      }
      return connection.changes
    }
  }
}
