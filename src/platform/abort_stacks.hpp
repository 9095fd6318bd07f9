// That a process which ends by abort(), its own or that of an assertion or of an exception that
// nobody catches, says on standard error where that was. For processes of others, such as Java's,
// which writes the stack of every other signal that ends it.
//
//   write_stacks_of_aborts();   // as often as wanted
//
// Where the process has a handler of its own for that signal, it stays. Thread: any.
#pragma once

namespace hummer {

void write_stacks_of_aborts();

}  // namespace hummer
