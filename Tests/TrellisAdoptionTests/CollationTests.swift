import Foundation
import Testing
import TrellisAdoption
import TrellisTestSupport

/// Conditions of columns whose texts are the same to the database although their characters differ.
@Suite("Conditions and collations") struct CollationTests {
  @Test(arguments: [
    ("role TEXT COLLATE NOCASE CHECK (role IN ('admin', 'user'))", "'Admin'", "admin"),
    ("role TEXT CHECK (role IN ('admin', 'user')) COLLATE NOCASE", "'USER'", "user"),
    ("role TEXT CHECK (role COLLATE NOCASE IN ('admin', 'user'))", "'aDMIN'", "admin"),
    ("role VARCHAR(9) COLLATE nocase CHECK (role = 'Admin' OR role = 'User' OR role = 'ADMIN')", "'admin'", "Admin"),
    ("role TEXT COLLATE RTRIM CHECK (role IN ('admin', 'user'))", "'admin  '", "admin"),
    ("role TEXT CHECK (role IN ('admin', 'Admin'))", "'Admin'", "Admin"),
  ]) func `a value that a condition allows is copied`(_ column: String, _ value: String, _ stored: String) throws {
    let file = try AdoptionTestFile(
      "CREATE TABLE u (id INTEGER PRIMARY KEY, \(column)); INSERT INTO u VALUES (1, \(value));")
    #expect(try file.lines("\"role\": \"URole?\"").count == 1)
    #expect(try file.database().copy(to: file.target).left.isEmpty)
    #expect(try file.copied("SELECT role FROM U") == [stored])
    let notes = try file.database().notes.map(\.message)
    #expect(
      notes.contains { $0.contains("which are spelled as in the condition here") }
        == !column.hasPrefix("role TEXT CHECK (role IN ('admin', 'Admin'))"), "\(notes)")
  }

  @Test func `a value that a condition does not allow is named`() throws {
    let file = try AdoptionTestFile(
      "PRAGMA ignore_check_constraints = 1; CREATE TABLE u (role TEXT CHECK (role IN ('admin'))); INSERT INTO u VALUES ('Admin');"
    )
    let error = #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
    #expect(error?.message.contains("u#1.role: has a value that is no case of its enum") == true)
  }

  @Test func `a collation in the condition of another column is none of this one`() throws {
    let file = try AdoptionTestFile("CREATE TABLE u (a TEXT CHECK (b COLLATE NOCASE <> 'x'), b TEXT)")
    #expect(try file.database().notes.allSatisfy { !$0.message.contains("is compared by") })
  }

  @Test func `a bound of texts is told as it is`() throws {
    let file = try AdoptionTestFile("CREATE TABLE u (a TEXT CHECK (a BETWEEN 'a' AND 'f'), b TEXT CHECK (b > 'a'))")
    let notes = try file.database().notes.map(\.description)
    for note in [
      "left-out u.a: must be at least 'a', and has no bound here",
      "left-out u.a: must be at most 'f', and has no bound here",
      "left-out u.b: must be above 'a', and has no bound here",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
  }

  @Test func `a member of each class is told with its article`() throws {
    let file = try AdoptionTestFile(
      "CREATE TABLE u (\"init\" TEXT, hash INT, n INT); INSERT INTO u VALUES ('a', 1, 'x');")
    let notes = try file.database().notes.map(\.description)
    for note in [
      "changed u.init: is called uInit in Swift, since every class has an init",
      "changed u.hash: is called uHash in Swift, since every class has a hash",
      "changed u.n: is declared INT, holds texts, and is a string",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
  }

  @Test func `a table with more columns than an entity has properties is refused with its number`() throws {
    let columns = (0..<1_500).map { "c\($0) INT" }.joined(separator: ", ")
    let file = try AdoptionTestFile("CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns))")
    let error = #expect(throws: AdoptionError.self) { try file.database() }
    #expect(error?.code == .limit)
    #expect(error?.message.contains("wide has 1501 columns") == true)
    #expect(error?.remedy.contains("--name") == false)
    let fitting = (0..<999).map { "c\($0) INT" }.joined(separator: ", ")
    #expect(try AdoptionTestFile("CREATE TABLE wide (id INTEGER PRIMARY KEY, \(fitting))").database().modelText() != "")
  }
}
