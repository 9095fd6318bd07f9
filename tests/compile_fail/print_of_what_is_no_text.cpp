// mistake: Printing records that have no form as text
// group: Sources and sinks
// error: records of this type cannot be written as text: give the type `void format_record(const
//   T&, std::string&)` in its own namespace, or operator<<, or map it to text first
// names: print
#include <hummer/hummer.hpp>

class Money {
 public:
  std::int64_t cents = 0;

 private:
  friend struct hummer::Codec<Money>;
  [[maybe_unused]] std::int64_t spare_ = 0;
};
template <>
struct hummer::Codec<Money> {
  static std::string name() { return "shop.Money"; }
  static void encode(const Money& money, ByteWriter& out) { out.put_value(money.cents); }
  static bool decode(ByteReader& in, Money& money) { return in.get_value(money.cents); }
};

#ifdef MISTAKE
void build(const hummer::DataStream<Money>& prices) { prices.print(); }
#else
void build(const hummer::DataStream<Money>& prices) {
  prices.map([](const Money& price) { return price.cents; }).print();
}
#endif
