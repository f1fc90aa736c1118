// The same work done with Trellis, as its documentation recommends.
import BenchModel
import Foundation
import Trellis
import Workload

func sum(_ d: Diary) -> Int {
  d.content.utf8.count &+ d.emotion.rawValue.utf8.count &+ Int(d.createdAt) &+ Int(d.intensity)
    &+ (d.isFavorite ? 1 : 0) &+ Int(d.id.uuid.0)
}

let n = count()
let isMemory = ProcessInfo.processInfo.environment["BENCH_STORE"] == "memory"
let report = Report(isMemory ? "trellis-memory" : "trellis")
let path = databasePath("bench-trellis.db")
let store: StoreConfiguration =
  isMemory ? .memory : .sqlite(at: URL(fileURLWithPath: path), durability: isDurable ? .durable : .relaxed)
let container = try PersistentContainer(model: .bench, store: store)
var ids: [ObjectID<Diary>] = []

try report.run("insert", items: n * 4) {
  let context = container.newContext()
  try makeDiaries(n) { _, x, images in
    let diary = Diary(
      in: context, id: x.id, emotion: Emotion(stored: x.emotion) ?? .happy, content: x.content,
      createdAt: x.createdAt, intensity: Int64(x.intensity), isFavorite: x.isFavorite)
    ids.append(diary.objectID)
    for i in images {
      diary.images.append(
        Image(in: context, id: i.id, imagePath: i.imagePath, byteCount: Int64(i.byteCount), position: Int64(i.position))
      )
    }
  }
  try context.save()
  return n * 4
}

do {
  let context = container.newContext()
  let before = residentBytes()
  var all: [Diary] = []
  try report.run("fetchAll", items: n) {
    all = try context.fetch(Diary.all)
    return all.reduce(0) { $0 &+ sum($1) }
  }
  report.figure("bytesPerObject", Double(residentBytes() - before) / Double(n))
}

try report.run("snapshots", items: n) {
  var c = 0
  for d in try container.newContext().snapshots(of: Diary.all) {
    c &+= d.content.utf8.count &+ d.emotion.rawValue.utf8.count &+ Int(d.createdAt) &+ Int(d.intensity)
    c &+= (d.isFavorite ? 1 : 0) &+ Int(d.id.uuid.0)
  }
  return c
}

func byID(_ context: ManagedObjectContext) throws -> Int {
  var c = 0
  var g = Generator(seed: 7)
  for _ in 0..<n {
    if let diary = try context.object(with: ids[g.below(n)]) { c &+= Int(diary.intensity) }
  }
  return c
}
do {
  let context = container.newContext()
  try report.run("byID", items: n) { try byID(context) }
  let all = try context.fetch(Diary.all)
  try report.run("byIDRegistered", items: n) { try byID(context) }
  _ = all.count
}

try report.run("latestByEmotion", items: n / 10) {
  let context = container.newContext()
  var c = 0
  var g = Generator(seed: 8)
  let cases = emotions.map { Emotion(stored: $0) ?? .happy }
  for _ in 0..<n / 10 {
    let emotion = cases[g.below(8)]
    let request = Diary.where { $0.emotion == emotion }.sorted { $0.createdAt.descending }
    if let diary = try context.first(request) { c &+= Int(diary.createdAt) }
  }
  return c
}

try report.run("searchText", items: n) {
  let context = container.newContext()
  let found = try context.fetch(Diary.where { $0.content.contains("coffee") || $0.content.contains("커피 산책") })
  return found.reduce(0) { $0 &+ Int($1.intensity) &+ 1 }
}

try report.run("traverse", items: n * 3) {
  let context = container.newContext()
  var c = 0
  for image in try context.fetch(Image.all) {
    c &+= (image.diary?.content.utf8.count ?? 0) &+ Int(image.byteCount)
  }
  return c
}

try report.run("toMany", items: n * 3) {
  let context = container.newContext()
  var c = 0
  for diary in try context.fetch(Diary.all) {
    c &+= Int(diary.intensity)
    for image in diary.images { c &+= Int(image.byteCount) }
  }
  return c
}

try report.run("tagAll", items: n) {
  let context = container.newContext()
  let all = (0..<tagCount).map { Tag(in: context, name: "tag\($0)") }
  for (number, diary) in try context.fetch(Diary.all).enumerated() {
    for tag in tags(of: number) { diary.tags.append(all[tag]) }
  }
  try context.save()
  return n
}

try report.run("manyToMany", items: n) {
  let context = container.newContext()
  var c = 0
  for (number, tag) in try context.fetch(Tag.all).enumerated() {
    for diary in tag.diaries { c &+= Int(diary.intensity) &+ number + 1 }
  }
  return c
}

try report.run("update", items: n) {
  let context = container.newContext()
  let all = try context.fetch(Diary.all)
  for diary in all { diary.intensity += 1 }
  try context.save()
  return all.count
}

func smallSaves(_ times: Int, _ context: ManagedObjectContext) throws {
  var g = Generator(seed: 9)
  for turn in 0..<times {
    try context.object(with: ids[g.below(n)])?.isFavorite = turn & 1 == 1
    try context.save()
  }
}
do {
  let context = container.newContext()
  try report.run("smallSaves", items: n / 100) {
    try smallSaves(n / 100, context)
    return n / 100
  }
}

func saveOneDirty(_ context: ManagedObjectContext, _ held: [Diary]) throws -> Int {
  for turn in 0..<500 {
    held[turn % held.count].isFavorite.toggle()
    try context.save()
  }
  return 500
}
do {
  let context = container.newContext()
  let hundred = try context.fetch(Diary.all.limit(100))
  try report.run("saveOneDirtyOf100", items: 500) { try saveOneDirty(context, hundred) }
  let all = try context.fetch(Diary.all)
  try report.run("saveOneDirtyOfAll", items: 500) { try saveOneDirty(context, Array(all.prefix(100))) }
  _ = all.count
}

do {
  let context = container.newContext()
  let all = try context.fetch(Diary.all)
  try report.run("rollback", items: n) {
    for diary in all { diary.intensity += 1 }
    context.rollback()
    return all.count
  }
}

try report.run("deleteCascade", items: n / 10) {
  let context = container.newContext()
  for diary in try context.fetch(Diary.all.limit(n / 10)) { try context.delete(diary) }
  try context.save()
  return n / 10
}
report.figure("peakMegabytes", Double(peakBytes()) / 1e6)

func peakBytes() -> Int {
  guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
  for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
    return (Int(line.split(separator: " ").dropFirst().first ?? "") ?? 0) * 1024
  }
  return 0
}
