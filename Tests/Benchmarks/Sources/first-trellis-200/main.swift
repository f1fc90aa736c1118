// Opens a store with a model of 200 entities and fetches one object; without `--reopen`, makes the store.
import FirstFetch
import Trellis
import WideModel
import Workload

try firstFetch(.firstFetch200, model: .wide, Entity020.all) {
  Entity020(in: $0, title: "the only object", amount: 100, weight: 7)
} sum: {
  $0.title.utf8.count + Int($0.amount) + Int($0.weight) + ($0.isDone ? 1 : 0)
}
