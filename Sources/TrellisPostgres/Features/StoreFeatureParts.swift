/// What a store keeps beside the rows, for requests that its functions would otherwise compute for each row. Only what is
/// there for the program's model is named here; a request does without the rest.
struct StoreFeatureParts: Sendable {
  var derived = DerivedTables()
  var searches = SearchIndexes()
}
