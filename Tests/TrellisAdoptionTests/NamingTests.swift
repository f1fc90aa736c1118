import Testing

@testable import TrellisAdoption

@Suite struct NamingTests {
  @Test(arguments: [
    ("film_actor", "FilmActor"), ("Customers", "Customer"), ("Order Details", "OrderDetail"), ("tblUsers", "TblUser"),
    ("categories", "Category"), ("FILM_ACTOR", "FilmActor"), ("address", "Address"), ("news", "News"), ("boxes", "Box"),
    ("status", "Status"), ("URLs", "URL"), ("2024_sales", "Table2024Sale"), ("", "Table"), ("🍎", "Table"),
    ("straße", "Strae"), ("café_orders", "CafeOrder"), ("x", "X"), ("_private", "Private"), ("a-b.c", "ABC"),
  ]) func `entities are in the singular`(_ table: String, _ entity: String) {
    #expect(Naming.entity(table) == entity)
  }

  @Test(arguments: [
    ("first_name", "firstName"), ("FirstName", "firstName"), ("CustomerID", "customerID"),
    ("customer_id", "customerID"),
    ("ID", "id"), ("id", "id"), ("URL", "url"), ("ImageURL", "imageURL"), ("UNIT_PRICE", "unitPrice"),
    ("2nd", "column2nd"),
    ("", "column"), ("Unit Price", "unitPrice"), ("isOK", "isOK"), ("e-mail", "eMail"),
  ]) func `attributes begin with a small letter`(_ column: String, _ attribute: String) {
    #expect(Naming.property(column) == attribute)
  }

  @Test(arguments: [
    ("AlbumId", "album"), ("album_id", "album"), ("SupportRepId", "supportRep"), ("ReportsTo", "reportsTo"),
    ("id", "album"), ("manager_staff_id", "managerStaff"), ("parent", "parent"), ("album_uuid", "album"),
    ("code", "album"),
  ]) func `a to-one is called as its column without the key`(_ column: String, _ name: String) {
    #expect(Naming.toOne(column, to: "Album") == name)
  }

  @Test(arguments: [
    ("Album", "albums"), ("Category", "categories"), ("Address", "addresses"), ("Box", "boxes"), ("Day", "days"),
    ("OrderDetail", "orderDetails"), ("Staff", "staffs"), ("albums", "albums"), ("Series", "series"), ("Bus", "buses"),
  ]) func `to-manys are in the plural`(_ entity: String, _ name: String) { #expect(Naming.toMany(entity) == name) }

  @Test(arguments: [
    ("PG-13", "pg13"), ("in-progress", "inProgress"), ("5", "value5"), ("", "value"), ("R", "r"), ("NC-17", "nc17"),
  ])
  func `cases are called as their values`(_ value: String, _ name: String) { #expect(Naming.enumCase(value) == name) }

  @Test func `names of one scope differ`() {
    var scope = NameScope()
    #expect(scope.takeUnused("a") == "a")
    #expect(scope.takeUnused("A", "aByB") == "aByB")
    #expect(scope.takeUnused("a") == "a2")
    #expect(scope.takeUnused("a") == "a3")
  }
}
