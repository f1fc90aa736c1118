// The same work done with GRDB, as its documentation recommends: Codable records ("grdb"); and, for the fetch of all, records
// that read their columns by number ("grdb-fast").
import Workload

try GRDBBench(Settings()).run()
