// error: has no hummer::Codec
// A record type that cannot be taken apart, and for which nobody wrote a codec.
#include <hummer/hummer.hpp>

class Account {
 public:
  explicit Account(int number) : number_(number) {}
  int number() const { return number_; }

 private:
  int number_;
};

void build(hummer::StreamExecutionEnvironment& env) {
  env.from_collection(std::vector<int>{1, 2}).map([](int number) { return Account(number); });
}
