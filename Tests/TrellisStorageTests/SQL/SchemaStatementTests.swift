import Testing
import TrellisModel
import TrellisStorage

@Suite("Tables of a model") struct SchemaStatementTests {
  @Test("a root entity's table, its references, keys and indexes")
  func tables() throws {
    let model = try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription(
            "Diary",
            attributes: [
              AttributeDescription("id", .uuid), AttributeDescription("text", .string, optional: true),
              AttributeDescription("draft", .bool, transient: true),
            ],
            relationships: [
              RelationshipDescription("images", to: "Image", inverse: "diary", toMany: true, ordered: true),
              RelationshipDescription("tags", to: "Tag", inverse: "diaries", toMany: true),
            ],
            uniqueKeys: [["id"]],
            indexes: [IndexDescription([.init("text", descending: true)]), IndexDescription([.init("id")])]),
          EntityDescription(
            "Image", attributes: [AttributeDescription("size", .double)],
            relationships: [RelationshipDescription("diary", to: "Diary", inverse: "images")]),
          EntityDescription(
            "Tag", relationships: [RelationshipDescription("diaries", to: "Diary", inverse: "tags", toMany: true)]),
        ]))
    let golden = """
      CREATE TABLE "Diary" (
        "_id" INTEGER PRIMARY KEY,
        "_version" INTEGER NOT NULL,
        "id" BLOB NOT NULL,
        "text" TEXT
      ) STRICT;
      CREATE UNIQUE INDEX "_unique.Diary.id" ON "Diary" ("id");
      CREATE INDEX "_index.Diary.text-" ON "Diary" ("text" DESC);
      CREATE TABLE "Image" (
        "_id" INTEGER PRIMARY KEY,
        "_version" INTEGER NOT NULL,
        "size" REAL NOT NULL,
        "diary" INTEGER REFERENCES "Diary"("_id") DEFERRABLE INITIALLY DEFERRED,
        "_diary_order" INTEGER
      ) STRICT;
      CREATE INDEX "_reference.Image.diary" ON "Image" ("diary", "_diary_order");
      CREATE TABLE "Tag" (
        "_id" INTEGER PRIMARY KEY,
        "_version" INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE "_Diary_tags" (
        "diaries" INTEGER NOT NULL REFERENCES "Diary"("_id") DEFERRABLE INITIALLY DEFERRED,
        "tags" INTEGER NOT NULL REFERENCES "Tag"("_id") DEFERRABLE INITIALLY DEFERRED,
        PRIMARY KEY ("diaries", "tags")
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX "_reverse.Diary_tags" ON "_Diary_tags" ("tags", "diaries")
      """
    #expect(SchemaStatements(model).all.joined(separator: ";\n") == golden)
  }

  @Test("a hierarchy shares a table; a child's key binds its subtree; what is left alone has no foreign key")
  func hierarchy() throws {
    let model = try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription(
            "Animal", attributes: [AttributeDescription("name", .string)],
            relationships: [
              RelationshipDescription("keeper", to: "Keeper", inverse: "animals"),
              RelationshipDescription("mate", to: "Animal", inverse: "mate", optional: true),
            ]),
          EntityDescription(
            "Dog", parent: "Animal", attributes: [AttributeDescription("chip", .int64)], uniqueKeys: [["name", "chip"]]),
          EntityDescription("Puppy", parent: "Dog"),
          EntityDescription(
            "Keeper",
            relationships: [
              RelationshipDescription("animals", to: "Animal", inverse: "keeper", deleteRule: .noAction, toMany: true)
            ]),
        ]))
    let golden = """
      CREATE TABLE "Animal" (
        "_id" INTEGER PRIMARY KEY,
        "_version" INTEGER NOT NULL,
        "_entity" TEXT NOT NULL,
        "name" TEXT NOT NULL,
        "keeper" INTEGER,
        "mate" INTEGER REFERENCES "Animal"("_id") DEFERRABLE INITIALLY DEFERRED,
        "Dog.chip" INTEGER
      ) STRICT;
      CREATE INDEX "_reference.Animal.keeper" ON "Animal" ("keeper");
      CREATE UNIQUE INDEX "_reference.Animal.mate" ON "Animal" ("mate");
      CREATE UNIQUE INDEX "_unique.Dog.name.chip" ON "Animal" ("name", "Dog.chip") WHERE "_entity" IN ('Dog', 'Puppy')
      """
    #expect(SchemaStatements(model).all.prefix(4).joined(separator: ";\n") == golden)
  }
}
