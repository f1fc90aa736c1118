/// The tables as Trellis makes them; the bare ones have no versions, unique keys and foreign keys.
enum Schema {
  static func create(in connection: Connection, isBare: Bool) {
    connection.execute((isBare ? bare : full) + indexes)
  }

  private static let full = """
    CREATE TABLE diary(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, id BLOB NOT NULL, emotion TEXT NOT NULL, content TEXT NOT NULL,
      createdAt REAL NOT NULL, intensity INTEGER NOT NULL, isFavorite INTEGER NOT NULL) STRICT;
    CREATE UNIQUE INDEX diary_id ON diary(id);
    CREATE TABLE image(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, id BLOB NOT NULL, imagePath TEXT NOT NULL,
      byteCount INTEGER NOT NULL, position INTEGER NOT NULL,
      diary INTEGER REFERENCES diary(pk) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE UNIQUE INDEX image_id ON image(id);
    CREATE TABLE tag(pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX tag_name ON tag(name);
    CREATE TABLE diary_tag(
      diary INTEGER NOT NULL REFERENCES diary(pk) DEFERRABLE INITIALLY DEFERRED,
      tag INTEGER NOT NULL REFERENCES tag(pk) DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY(diary, tag)) STRICT, WITHOUT ROWID;
    """

  private static let bare = """
    CREATE TABLE diary(
      pk INTEGER PRIMARY KEY, id BLOB, emotion TEXT, content TEXT, createdAt REAL, intensity INTEGER, isFavorite INTEGER);
    CREATE TABLE image(
      pk INTEGER PRIMARY KEY, id BLOB, imagePath TEXT, byteCount INTEGER, position INTEGER, diary INTEGER);
    CREATE TABLE tag(pk INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE diary_tag(diary INTEGER, tag INTEGER, PRIMARY KEY(diary, tag)) WITHOUT ROWID;
    """

  private static let indexes = """
    CREATE INDEX diary_emotion ON diary(emotion, createdAt);
    CREATE INDEX image_diary ON image(diary);
    CREATE INDEX diary_tag_tag ON diary_tag(tag, diary);
    """
}
