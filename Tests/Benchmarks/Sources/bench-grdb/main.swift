// The same work done with GRDB as its documentation recommends: Codable records ("grdb"), and records that read rows by index
// ("grdb-fast").
import Foundation
import GRDB
import Workload

struct Diary: Codable, FetchableRecord, MutablePersistableRecord, TableRecord {
  static let databaseTableName = "diary"
  static let images = hasMany(Image.self)
  var pk: Int64?
  var id: UUID
  var emotion: String
  var content: String
  var createdAt: Double
  var intensity: Int
  var isFavorite: Bool
  mutating func didInsert(_ i: InsertionSuccess) { pk = i.rowID }
  enum Columns {
    static let emotion = Column("emotion"), content = Column("content"), createdAt = Column("createdAt")
  }
}

struct Image: Codable, FetchableRecord, MutablePersistableRecord, TableRecord {
  static let databaseTableName = "image"
  static let diary = belongsTo(Diary.self)
  var pk: Int64?
  var id: UUID
  var imagePath: String
  var byteCount: Int
  var position: Int
  var diaryPk: Int64
  mutating func didInsert(_ i: InsertionSuccess) { pk = i.rowID }
}

struct ImageInfo: Decodable, FetchableRecord {
  var image: Image
  var diary: Diary
}

struct DiaryInfo: Decodable, FetchableRecord {
  var diary: Diary
  var images: [Image]
}

struct FastDiary: FetchableRecord, TableRecord {
  static let databaseTableName = "diary"
  var pk: Int64, id: UUID, emotion: String, content: String, createdAt: Double, intensity: Int, isFavorite: Bool
  init(row: Row) {
    pk = row[0]
    id = row[1]
    emotion = row[2]
    content = row[3]
    createdAt = row[4]
    intensity = row[5]
    isFavorite = row[6]
  }
}

func sum(_ d: Diary) -> Int {
  d.content.utf8.count &+ d.emotion.utf8.count &+ Int(d.createdAt) &+ d.intensity &+ (d.isFavorite ? 1 : 0)
    &+ Int(d.id.uuid.0)
}

let n = count()
let report = Report("grdb"), fast = Report("grdb-fast")
var config = Configuration()
config.foreignKeysEnabled = true
config.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")") }
let pool = try DatabasePool(path: databasePath("bench-grdb.db"), configuration: config)
try pool.write { db in
  try db.create(table: "diary") { t in
    t.autoIncrementedPrimaryKey("pk")
    t.column("id", .blob).unique()
    t.column("emotion", .text)
    t.column("content", .text)
    t.column("createdAt", .double)
    t.column("intensity", .integer)
    t.column("isFavorite", .boolean)
  }
  try db.create(index: "diary_emotion", on: "diary", columns: ["emotion", "createdAt"])
  try db.create(table: "image") { t in
    t.autoIncrementedPrimaryKey("pk")
    t.column("id", .blob).unique()
    t.column("imagePath", .text)
    t.column("byteCount", .integer)
    t.column("position", .integer)
    t.column("diaryPk", .integer).indexed().references("diary", column: "pk", onDelete: .cascade)
  }
}

try report.run("insert", items: n * 4) {
  try pool.write { db in
    try makeDiaries(n) { _, x, images in
      var d = Diary(
        pk: nil, id: x.id, emotion: x.emotion, content: x.content, createdAt: x.createdAt, intensity: x.intensity,
        isFavorite: x.isFavorite)
      try d.insert(db)
      for i in images {
        var im = Image(
          pk: nil, id: i.id, imagePath: i.imagePath, byteCount: i.byteCount, position: i.position, diaryPk: d.pk!)
        try im.insert(db)
      }
    }
  }
  return n * 4
}

let before = residentBytes()
var all: [Diary] = []
try report.run("fetchAll", items: n) {
  all = try pool.read { try Diary.fetchAll($0) }
  return all.reduce(0) { $0 &+ sum($1) }
}
report.figure("bytesPerObject", Double(residentBytes() - before) / Double(n))
all = []

try fast.run("fetchAll", items: n) {
  let f = try pool.read { try FastDiary.fetchAll($0) }
  return f.reduce(0) {
    $0 &+ $1.content.utf8.count &+ $1.emotion.utf8.count &+ Int($1.createdAt) &+ $1.intensity
      &+ ($1.isFavorite ? 1 : 0) &+ Int($1.id.uuid.0)
  }
}

try report.run("snapshots", items: n) {
  try pool.read { try Diary.fetchAll($0) }.reduce(0) { $0 &+ sum($1) }
}

func byID() throws -> Int {
  try pool.read { db in
    var c = 0
    var g = Generator(seed: 7)
    for _ in 0..<n { if let d = try Diary.fetchOne(db, key: Int64(1 + g.below(n))) { c &+= d.intensity } }
    return c
  }
}
try report.run("byID", items: n, byID)
try report.run("byIDRegistered", items: n, byID)

try report.run("latestByEmotion", items: n / 10) {
  try pool.read { db in
    var c = 0
    var g = Generator(seed: 8)
    for _ in 0..<n / 10 {
      let e = emotions[g.below(8)]
      let request = Diary.filter(Diary.Columns.emotion == e).order(Diary.Columns.createdAt.desc)
      if let d = try request.fetchOne(db) { c &+= Int(d.createdAt) }
    }
    return c
  }
}

try report.run("searchText", items: n) {
  try pool.read { db in
    let content = Diary.Columns.content, emotion = Diary.Columns.emotion
    return try Diary.filter(
      content.like("%coffee%") || content.like("%커피 산책%") || emotion.like("%커피 산책%")
    ).fetchAll(db).reduce(0) { $0 &+ $1.intensity &+ 1 }
  }
}

try report.run("traverse", items: n * 3) {
  try pool.read { db in
    try Image.including(required: Image.diary).asRequest(of: ImageInfo.self).fetchAll(db)
      .reduce(0) { $0 &+ $1.diary.content.utf8.count &+ $1.image.byteCount }
  }
}

try report.run("toMany", items: n * 3) {
  try pool.read { db in
    try Diary.including(all: Diary.images).asRequest(of: DiaryInfo.self).fetchAll(db)
      .reduce(0) { total, info in info.images.reduce(total &+ info.diary.intensity) { $0 &+ $1.byteCount } }
  }
}

try report.run("update", items: n) {
  try pool.write { db in
    var ds = try Diary.fetchAll(db)
    for i in ds.indices { try ds[i].updateChanges(db) { $0.intensity += 1 } }
    return ds.count
  }
}

func smallSaves(_ times: Int) throws {
  var g = Generator(seed: 9)
  for turn in 0..<times {
    let k = Int64(1 + g.below(n))
    try pool.write { db in
      if var d = try Diary.fetchOne(db, key: k) { try d.updateChanges(db) { $0.isFavorite = turn & 1 == 1 } }
    }
  }
}
try report.run("smallSaves", items: n / 100) {
  try smallSaves(n / 100)
  return n / 100
}

try report.run("deleteCascade", items: n / 10) {
  try pool.write { db in for pk in 1...(n / 10) { _ = try Diary.deleteOne(db, key: Int64(pk)) } }
  return n / 10
}
