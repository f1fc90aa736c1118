// The floor: statements prepared once, columns read by index into hand-written classes, references resolved through a
// dictionary. By default with the schema that Trellis has (unique keys, foreign keys, a version column); with BENCH_BARE=1
// with neither.
import CSQLite3
import Foundation
import Workload

final class Diary {
  var pk: Int64 = 0
  var id = UUID(uuid: noUUID)
  var emotion = "", content = ""
  var createdAt = 0.0
  var intensity = 0
  var isFavorite = false
}

struct DiaryRow {
  var pk: Int64
  var id: UUID
  var emotion, content: String
  var createdAt: Double
  var intensity: Int
  var isFavorite: Bool
}

final class Image {
  var pk: Int64 = 0
  var id = UUID(uuid: noUUID)
  var imagePath = ""
  var byteCount = 0, position = 0
  var diary: Diary?
}

let noUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
let isBare = ProcessInfo.processInfo.environment["BENCH_BARE"] == "1"

var db: OpaquePointer?

func check(_ rc: Int32) {
  if rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW { fatalError(String(cString: sqlite3_errmsg(db))) }
}

func exec(_ sql: String) { check(sqlite3_exec(db, sql, nil, nil, nil)) }

func prepare(_ sql: String) -> OpaquePointer {
  var s: OpaquePointer?
  check(sqlite3_prepare_v3(db, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &s, nil))
  return s!
}

func run(_ s: OpaquePointer) {
  check(sqlite3_step(s))
  sqlite3_reset(s)
}

func text(_ s: OpaquePointer, _ i: Int32, _ v: String) {
  var v = v
  v.withUTF8 { p in
    check(
      sqlite3_bind_text(
        s, i, UnsafeRawPointer(p.baseAddress!).assumingMemoryBound(to: CChar.self), Int32(p.count), transient))
  }
}

func uuid(_ s: OpaquePointer, _ i: Int32, _ v: UUID) {
  withUnsafeBytes(of: v.uuid) { p in _ = sqlite3_bind_blob(s, i, p.baseAddress, 16, transient) }
}

func string(_ s: OpaquePointer, _ i: Int32) -> String {
  let n = Int(sqlite3_column_bytes(s, i))
  return String(decoding: UnsafeBufferPointer(start: sqlite3_column_text(s, i), count: n), as: UTF8.self)
}

func uuidColumn(_ s: OpaquePointer, _ i: Int32) -> UUID {
  UUID(uuid: sqlite3_column_blob(s, i)!.loadUnaligned(as: uuid_t.self))
}

func readDiary(_ s: OpaquePointer) -> Diary {
  let d = Diary()
  d.pk = sqlite3_column_int64(s, 0)
  d.id = uuidColumn(s, 1)
  d.emotion = string(s, 2)
  d.content = string(s, 3)
  d.createdAt = sqlite3_column_double(s, 4)
  d.intensity = Int(sqlite3_column_int64(s, 5))
  d.isFavorite = sqlite3_column_int(s, 6) != 0
  return d
}

func sum(_ d: Diary) -> Int {
  d.content.utf8.count &+ d.emotion.utf8.count &+ Int(d.createdAt) &+ d.intensity &+ (d.isFavorite ? 1 : 0)
    &+ Int(d.id.uuid.0)
}

func readImage(_ s: OpaquePointer) -> Image {
  let i = Image()
  i.pk = sqlite3_column_int64(s, 0)
  i.id = uuidColumn(s, 1)
  i.imagePath = string(s, 2)
  i.byteCount = Int(sqlite3_column_int64(s, 3))
  i.position = Int(sqlite3_column_int64(s, 4))
  return i
}

let n = count()
let report = Report(isBare ? "sqlite-bare" : "sqlite")
let path = databasePath("bench-sqlite.db")
check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil))
exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=\(isDurable ? "FULL" : "NORMAL")")
exec("PRAGMA foreign_keys=\(isBare ? "OFF" : "ON")")

let version = isBare ? "" : ", version INTEGER NOT NULL DEFAULT 1"
let unique = isBare ? "" : " UNIQUE"
func references(_ table: String) -> String { isBare ? "" : " REFERENCES \(table)(pk) DEFERRABLE INITIALLY DEFERRED" }
exec(
  "CREATE TABLE diary(pk INTEGER PRIMARY KEY\(version), id BLOB\(unique), emotion TEXT, content TEXT, createdAt REAL, intensity INTEGER, isFavorite INTEGER)"
)
exec(
  "CREATE TABLE image(pk INTEGER PRIMARY KEY\(version), id BLOB\(unique), imagePath TEXT, byteCount INTEGER, position INTEGER, diary INTEGER\(references("diary")))"
)
exec("CREATE TABLE tag(pk INTEGER PRIMARY KEY\(version), name TEXT\(unique))")
exec(
  "CREATE TABLE diary_tag(diary INTEGER\(references("diary")), tag INTEGER\(references("tag")), PRIMARY KEY(diary, tag)) WITHOUT ROWID"
)
exec(
  "CREATE INDEX diary_emotion ON diary(emotion, createdAt); CREATE INDEX image_diary ON image(diary); CREATE INDEX diary_tag_tag ON diary_tag(tag, diary)"
)

let columns = "pk,id,emotion,content,createdAt,intensity,isFavorite"

report.run("insert", items: n * 4) {
  let d = prepare("INSERT INTO diary(id,emotion,content,createdAt,intensity,isFavorite) VALUES(?,?,?,?,?,?)")
  let im = prepare("INSERT INTO image(id,imagePath,byteCount,position,diary) VALUES(?,?,?,?,?)")
  exec("BEGIN IMMEDIATE")
  makeDiaries(n) { _, x, images in
    uuid(d, 1, x.id)
    text(d, 2, x.emotion)
    text(d, 3, x.content)
    sqlite3_bind_double(d, 4, x.createdAt)
    sqlite3_bind_int64(d, 5, Int64(x.intensity))
    sqlite3_bind_int(d, 6, x.isFavorite ? 1 : 0)
    run(d)
    let pk = sqlite3_last_insert_rowid(db)
    for i in images {
      uuid(im, 1, i.id)
      text(im, 2, i.imagePath)
      sqlite3_bind_int64(im, 3, Int64(i.byteCount))
      sqlite3_bind_int64(im, 4, Int64(i.position))
      sqlite3_bind_int64(im, 5, pk)
      run(im)
    }
  }
  exec("COMMIT")
  sqlite3_finalize(d)
  sqlite3_finalize(im)
  return n * 4
}

let before = residentBytes()
var all: [Diary] = []
report.run("fetchAll", items: n) {
  let s = prepare("SELECT \(columns) FROM diary")
  var c = 0
  while sqlite3_step(s) == SQLITE_ROW {
    let d = readDiary(s)
    c &+= sum(d)
    all.append(d)
  }
  sqlite3_finalize(s)
  return c
}
report.figure("bytesPerObject", Double(residentBytes() - before) / Double(n))
all = []

report.run("snapshots", items: n) {
  let s = prepare("SELECT \(columns) FROM diary")
  var c = 0
  var rows: [DiaryRow] = []
  while sqlite3_step(s) == SQLITE_ROW {
    rows.append(
      DiaryRow(
        pk: sqlite3_column_int64(s, 0), id: uuidColumn(s, 1), emotion: string(s, 2), content: string(s, 3),
        createdAt: sqlite3_column_double(s, 4), intensity: Int(sqlite3_column_int64(s, 5)),
        isFavorite: sqlite3_column_int(s, 6) != 0))
  }
  for d in rows {
    c &+= d.content.utf8.count &+ d.emotion.utf8.count &+ Int(d.createdAt) &+ d.intensity
    c &+= (d.isFavorite ? 1 : 0) &+ Int(d.id.uuid.0)
  }
  sqlite3_finalize(s)
  return c
}

func byID() -> Int {
  let s = prepare("SELECT \(columns) FROM diary WHERE pk=?")
  var c = 0
  var g = Generator(seed: 7)
  for _ in 0..<n {
    sqlite3_bind_int64(s, 1, Int64(1 + g.below(n)))
    if sqlite3_step(s) == SQLITE_ROW { c &+= readDiary(s).intensity }
    sqlite3_reset(s)
  }
  sqlite3_finalize(s)
  return c
}
report.run("byID", items: n, byID)
report.run("byIDRegistered", items: n, byID)

report.run("latestByEmotion", items: n / 10) {
  let s = prepare("SELECT \(columns) FROM diary WHERE emotion=? ORDER BY createdAt DESC LIMIT 1")
  var c = 0
  var g = Generator(seed: 8)
  for _ in 0..<n / 10 {
    text(s, 1, emotions[g.below(8)])
    if sqlite3_step(s) == SQLITE_ROW { c &+= Int(readDiary(s).createdAt) }
    sqlite3_reset(s)
  }
  sqlite3_finalize(s)
  return c
}

report.run("searchText", items: n) {
  let s = prepare(
    "SELECT \(columns) FROM diary WHERE content LIKE '%coffee%' OR content LIKE '%커피 산책%' OR emotion LIKE '%커피 산책%'")
  var c = 0
  while sqlite3_step(s) == SQLITE_ROW { c &+= readDiary(s).intensity &+ 1 }
  sqlite3_finalize(s)
  return c
}

report.run("traverse", items: n * 3) {  // every image, then the diary that it belongs to
  var byPK: [Int64: Diary] = [:]
  byPK.reserveCapacity(n)
  let s = prepare("SELECT \(columns) FROM diary")
  while sqlite3_step(s) == SQLITE_ROW {
    let d = readDiary(s)
    byPK[d.pk] = d
  }
  let im = prepare("SELECT pk,id,imagePath,byteCount,position,diary FROM image")
  var c = 0
  while sqlite3_step(im) == SQLITE_ROW {
    let i = readImage(im)
    i.diary = byPK[sqlite3_column_int64(im, 5)]
    c &+= i.diary!.content.utf8.count &+ i.byteCount
  }
  sqlite3_finalize(s)
  sqlite3_finalize(im)
  return c
}

report.run("toMany", items: n * 3) {  // every diary, then its images
  var byPK: [Int64: [Image]] = [:]
  byPK.reserveCapacity(n)
  let im = prepare("SELECT pk,id,imagePath,byteCount,position,diary FROM image")
  while sqlite3_step(im) == SQLITE_ROW { byPK[sqlite3_column_int64(im, 5), default: []].append(readImage(im)) }
  let s = prepare("SELECT \(columns) FROM diary")
  var c = 0
  while sqlite3_step(s) == SQLITE_ROW {
    let d = readDiary(s)
    c &+= d.intensity
    for i in byPK[d.pk] ?? [] { c &+= i.byteCount }
  }
  sqlite3_finalize(s)
  sqlite3_finalize(im)
  return c
}

report.run("tagAll", items: n) {  // tags for every diary, one transaction
  let t = prepare("INSERT INTO tag(pk,name) VALUES(?,?)")
  let dt = prepare("INSERT INTO diary_tag(diary,tag) VALUES(?,?)")
  exec("BEGIN IMMEDIATE")
  for number in 0..<tagCount {
    sqlite3_bind_int64(t, 1, Int64(number + 1))
    text(t, 2, "tag\(number)")
    run(t)
  }
  for diary in 0..<n {
    for tag in tags(of: diary) {
      sqlite3_bind_int64(dt, 1, Int64(diary + 1))
      sqlite3_bind_int64(dt, 2, Int64(tag + 1))
      run(dt)
    }
  }
  exec("COMMIT")
  sqlite3_finalize(t)
  sqlite3_finalize(dt)
  return n
}

report.run("manyToMany", items: n) {  // every tag, its diaries
  var byPK: [Int64: Diary] = [:]
  byPK.reserveCapacity(n)
  let s = prepare("SELECT \(columns) FROM diary")
  while sqlite3_step(s) == SQLITE_ROW {
    let d = readDiary(s)
    byPK[d.pk] = d
  }
  let dt = prepare("SELECT tag,diary FROM diary_tag ORDER BY tag,diary")
  var c = 0
  while sqlite3_step(dt) == SQLITE_ROW {
    c &+= byPK[sqlite3_column_int64(dt, 1)]!.intensity &+ Int(sqlite3_column_int64(dt, 0))
  }
  sqlite3_finalize(s)
  sqlite3_finalize(dt)
  return c
}

let bump = isBare ? "" : ", version=version+1"
let guardVersion = isBare ? "" : " AND version=?"

report.run("update", items: n) {  // one property of every diary, read as objects, saved in one transaction
  let s = prepare("SELECT \(columns)\(isBare ? "" : ",version") FROM diary")
  var ds: [Diary] = []
  var versions: [Int64] = []
  while sqlite3_step(s) == SQLITE_ROW {
    ds.append(readDiary(s))
    if !isBare { versions.append(sqlite3_column_int64(s, 7)) }
  }
  let u = prepare("UPDATE diary SET intensity=?\(bump) WHERE pk=?\(guardVersion)")
  exec("BEGIN IMMEDIATE")
  for (index, d) in ds.enumerated() {
    d.intensity += 1
    sqlite3_bind_int64(u, 1, Int64(d.intensity))
    sqlite3_bind_int64(u, 2, d.pk)
    if !isBare { sqlite3_bind_int64(u, 3, versions[index]) }
    run(u)
  }
  exec("COMMIT")
  sqlite3_finalize(s)
  sqlite3_finalize(u)
  return ds.count
}

func smallSaves(_ times: Int) {  // one changed object for each transaction
  let u = prepare("UPDATE diary SET isFavorite=?\(bump) WHERE pk=?")
  var g = Generator(seed: 9)
  for turn in 0..<times {
    exec("BEGIN IMMEDIATE")
    sqlite3_bind_int(u, 1, Int32(turn & 1))
    sqlite3_bind_int64(u, 2, Int64(1 + g.below(n)))
    run(u)
    exec("COMMIT")
  }
  sqlite3_finalize(u)
}
report.run("smallSaves", items: n / 100) {
  smallSaves(n / 100)
  return n / 100
}
report.run("saveOneDirtyOf100", items: 500) {
  smallSaves(500)
  return 500
}
report.run("saveOneDirtyOfAll", items: 500) {
  smallSaves(500)
  return 500
}

report.run("deleteCascade", items: n / 10) {
  let t = prepare("DELETE FROM diary_tag WHERE diary=?")
  let a = prepare("DELETE FROM image WHERE diary=?")
  let b = prepare("DELETE FROM diary WHERE pk=?")
  exec("BEGIN IMMEDIATE")
  for pk in 1...(n / 10) {
    for s in [t, a, b] {
      sqlite3_bind_int64(s, 1, Int64(pk))
      run(s)
    }
  }
  exec("COMMIT")
  for s in [t, a, b] { sqlite3_finalize(s) }
  return n / 10
}
report.figure("peakMegabytes", Double(peakBytes()) / 1e6)
sqlite3_close(db)

func peakBytes() -> Int {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
  for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
    return (Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0) * 1024
  }
  return 0
}
