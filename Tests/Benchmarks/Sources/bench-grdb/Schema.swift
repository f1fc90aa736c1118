import GRDB

enum Schema {
  static func create(in db: Database) throws {
    try createDiaries(in: db)
    try createImages(in: db)
    try createTags(in: db)
    try createMusic(in: db)
    try db.create(table: "node", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("number", .integer).notNull()
      table.column("parentPk", .integer).indexed().references("node", column: "pk", deferred: true)
    }
    try db.create(table: "photo", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("name", .text).notNull()
      table.column("content", .blob).notNull()
    }
  }

  private static func createDiaries(in db: Database) throws {
    try db.create(table: "diary", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("id", .blob).notNull().unique()
      table.column("emotion", .text).notNull()
      table.column("content", .text).notNull()
      table.column("createdAt", .real).notNull()
      table.column("intensity", .integer).notNull()
      table.column("isFavorite", .integer).notNull()
    }
    try db.create(index: "diary_emotion", on: "diary", columns: ["emotion", "createdAt"])
  }

  private static func createImages(in db: Database) throws {
    try db.create(table: "image", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("id", .blob).notNull().unique()
      table.column("imagePath", .text).notNull()
      table.column("byteCount", .integer).notNull()
      table.column("position", .integer).notNull()
      table.column("diaryPk", .integer).indexed().references("diary", column: "pk", onDelete: .cascade)
    }
  }

  private static func createTags(in db: Database) throws {
    try db.create(table: "tag", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("name", .text).notNull().unique()
    }
    try db.create(table: "diaryTag", options: [.strict, .withoutRowID]) { table in
      table.primaryKey {
        table.column("diaryPk", .integer).references("diary", column: "pk", onDelete: .cascade)
        table.column("tagPk", .integer).references("tag", column: "pk", onDelete: .cascade)
      }
    }
    try db.create(index: "diaryTag_tag", on: "diaryTag", columns: ["tagPk", "diaryPk"])
  }

  private static func createMusic(in db: Database) throws {
    try createNamed("country", owner: nil, in: db)
    try createNamed("label", owner: "country", in: db)
    try createNamed("artist", owner: "label", in: db)
    try createNamed("album", owner: "artist", in: db)
    try db.create(table: "track", options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("title", .text).notNull()
      table.column("seconds", .integer).notNull()
      table.column("genre", .integer).notNull()
      table.column("albumPk", .integer).indexed().references("album", column: "pk")
    }
  }

  private static func createNamed(_ name: String, owner: String?, in db: Database) throws {
    try db.create(table: name, options: .strict) { table in
      table.primaryKey("pk", .integer)
      table.column("name", .text).notNull()
      if let owner { table.column("\(owner)Pk", .integer).indexed().references(owner, column: "pk") }
    }
  }
}
