// Sorts and groups of whole bounded inputs, on every DataStream.
//
//   orders.sort_partition(&Order::date)                       each subtask sorts what it gets
//   orders.sort(&Order::price, SortOrder::descending)         one order over all records
//   orders.sort([](const Order& o) { return std::tuple(o.shop, descending(o.price)); })
//   orders.group_by(&Order::customer)
//       .reduce_group([](const long& customer, Group<Order>& group, Collector<Total>& out) {
//         Total total{customer, 0};
//         while (const Order* order = group.next()) total.sum += order->price;
//         out(total);
//       })
//
// Records come out when the input has ended, so all sources above must be bounded. The order is
// that of the keys' values; text by its bytes; -0.0 is 0.0, and NaN goes behind all numbers (which
// keys can be sorted: hummer/detail/sort_key.hpp). Records with equal keys stay in the order in
// which they came to their subtask.
//
// sort: subtasks sort in parallel, and one task merges what they have sorted. Order lasts until
// records are spread again: behind it parallelism(1), or what write_file without parallelism does.
//
// group_by: records go to the subtask that owns their key, which sorts them, and hands each group
// over once. A group is read from where it lies, so it may be larger than memory; a record from
// next() holds until the next one. What a function leaves unread is passed over. What it puts out
// waits in memory until it returns.
//
// Memory: --bounded-memory-bytes per slot, for all of a job; what is beyond it goes to files in
// --spill-dir that have no name there. Nothing of it is in a checkpoint: execute() refuses the job
// where checkpoints are on.
//
// Cost: a record is encoded once and decoded once; O(n log n) comparisons, most of 4 bytes; beyond
// the memory it is written and read once, or twice from about a hundred times the memory.
#pragma once

#include <hummer/detail/bounded_operations.hpp>
