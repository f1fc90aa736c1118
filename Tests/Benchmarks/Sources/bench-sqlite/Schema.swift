/// The tables as Trellis makes them. The bare ones are those of diaries, without versions, unique keys and foreign keys.
enum Schema {
  static func create(in connection: Connection, isBare: Bool) {
    connection.execute(isBare ? bare + diaryIndexes : diaries + diaryIndexes + music + others)
  }

  private static let diaries = """
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

  private static let diaryIndexes = """
    CREATE INDEX diary_emotion ON diary(emotion, createdAt);
    CREATE INDEX image_diary ON image(diary);
    CREATE INDEX diary_tag_tag ON diary_tag(tag, diary);
    """

  private static let music = """
    CREATE TABLE country(pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, code TEXT NOT NULL) STRICT;
    CREATE TABLE label(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL,
      country INTEGER REFERENCES country(pk) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE INDEX label_country ON label(country);
    CREATE TABLE artist(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL,
      label INTEGER REFERENCES label(pk) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE INDEX artist_label ON artist(label);
    CREATE TABLE album(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL,
      artist INTEGER REFERENCES artist(pk) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE INDEX album_artist ON album(artist);
    CREATE TABLE track(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, title TEXT NOT NULL, seconds INTEGER NOT NULL,
      genre INTEGER NOT NULL, album INTEGER REFERENCES album(pk) DEFERRABLE INITIALLY DEFERRED, place INTEGER) STRICT;
    CREATE INDEX track_album ON track(album, place);
    """

  private static let others = """
    CREATE TABLE node(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, number INTEGER NOT NULL,
      parent INTEGER REFERENCES node(pk) DEFERRABLE INITIALLY DEFERRED) STRICT;
    CREATE INDEX node_parent ON node(parent);
    CREATE TABLE word(pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
    CREATE UNIQUE INDEX word_text ON word(text);
    CREATE TABLE photo(
      pk INTEGER PRIMARY KEY, version INTEGER NOT NULL, name TEXT NOT NULL, file TEXT NOT NULL) STRICT;
    """
}
