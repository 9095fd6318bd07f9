// Names of types as they are kept, which must be those of GCC 12 whoever compiles this.
#include <gtest/gtest.h>

#include <hummer/codec.hpp>

namespace kept_names {

enum class Color : char { red, green };
struct Plain {
  int a;
};
inline namespace v2 {
struct InInline {
  int a;
};
template <typename T, typename A = std::allocator<T>>
struct WithDefault {
  T a;
};
}  // namespace v2
template <typename... T>
struct Box {
  int a;
};
template <typename T>
struct One {
  int a;
};
template <typename T>
struct Outer {
  struct Inner {
    T a;
  };
  enum class Kind { one };
};
template <std::size_t n>
struct Sized {
  int a;
};
template <auto value>
struct Any {
  int a;
};

}  // namespace kept_names

namespace hummer {
namespace {

using namespace kept_names;

struct InNameless {
  int a;
};

template <typename T>
std::string name() {
  return detail::type_name<T>();
}

TEST(TypeSpelling, NumbersAreInTheOrderOfGcc) {
  EXPECT_EQ((name<Box<int, long, unsigned long, short, unsigned short, long long>>()),
            "kept_names::Box<int, long int, long unsigned int, short int, short unsigned int, "
            "long long int>");
  EXPECT_EQ((name<Box<unsigned long long, unsigned, signed char, unsigned char, char, long double,
                      bool, float>>()),
            "kept_names::Box<long long unsigned int, unsigned int, signed char, unsigned char, "
            "char, long double, bool, float>");
}

TEST(TypeSpelling, AllScopesAreNamed) {
  EXPECT_EQ(name<Plain>(), "kept_names::Plain");
  EXPECT_EQ(name<Color>(), "kept_names::Color");
  EXPECT_EQ(name<InInline>(), "kept_names::v2::InInline");
  EXPECT_EQ(name<Box<InInline>>(), "kept_names::Box<kept_names::v2::InInline>");
  EXPECT_EQ(name<InNameless>(), "hummer::{anonymous}::InNameless");
  EXPECT_EQ(name<Outer<InInline>::Inner>(), "kept_names::Outer<kept_names::v2::InInline>::Inner");
  EXPECT_EQ(name<Outer<long>::Kind>(), "kept_names::Outer<long int>::Kind");
}

TEST(TypeSpelling, TypesOfTheStandardLibraryHaveTheirNamespaces) {
  EXPECT_EQ(name<One<std::string>>(), "kept_names::One<std::__cxx11::basic_string<char> >");
  EXPECT_EQ(name<One<std::vector<std::string_view>>>(),
            "kept_names::One<std::vector<std::basic_string_view<char> > >");
  EXPECT_EQ((name<One<std::pair<const int, Plain>>>()),
            "kept_names::One<std::pair<const int, kept_names::Plain> >");
}

TEST(TypeSpelling, ArgumentsAreThoseThatAreNoDefaults) {
  EXPECT_EQ(name<WithDefault<int>>(), "kept_names::v2::WithDefault<int>");
  EXPECT_EQ((name<WithDefault<int, InInline>>()),
            "kept_names::v2::WithDefault<int, kept_names::v2::InInline>");
  EXPECT_EQ(name<WithDefault<WithDefault<int>>>(),
            "kept_names::v2::WithDefault<kept_names::v2::WithDefault<int> >");
  EXPECT_EQ(name<Box<>>(), "kept_names::Box<>");
}

TEST(TypeSpelling, ValuesHaveNoType) {
  EXPECT_EQ(name<Sized<3>>(), "kept_names::Sized<3>");
  EXPECT_EQ(name<Any<3UL>>(), "kept_names::Any<3>");
  EXPECT_EQ(name<Any<-3>>(), "kept_names::Any<-3>");
  EXPECT_EQ(name<Any<true>>(), "kept_names::Any<true>");
  EXPECT_EQ(name<Any<'c'>>(), "kept_names::Any<'c'>");
  EXPECT_EQ(name<Any<Color::green>>(), "kept_names::Any<kept_names::Color::green>");
}

TEST(TypeSpelling, PointersAndReferencesStandAtTheirType) {
  EXPECT_EQ((name<Box<const char*, const InInline&, const InInline>>()),
            "kept_names::Box<const char*, const kept_names::v2::InInline&, "
            "const kept_names::v2::InInline>");
  EXPECT_EQ(name<Box<InInline* const*>>(), "kept_names::Box<kept_names::v2::InInline* const*>");
}

std::string in_function(unsigned long, const std::string&, const Plain&, std::vector<int>*) {
  struct Local {
    int a;
  };
  return name<Box<Local>>();
}
struct Job {
  std::string in_member(long) const {
    enum class Local { one };
    return name<Local>();
  }
};
TEST(TypeSpelling, TypesOfAFunctionAreInIt) {
  EXPECT_EQ(in_function(1, "", {}, nullptr),
            "kept_names::Box<hummer::{anonymous}::in_function(long unsigned int, "
            "const std::string&, const kept_names::Plain&, std::vector<int>*)::Local>");
  EXPECT_EQ(Job{}.in_member(1), "hummer::{anonymous}::Job::in_member(long int) const::Local");
  const auto lambda = [](unsigned long) {
    struct Local {
      int a;
    };
    return name<Local>();
  };
  EXPECT_TRUE(lambda(1).ends_with("::TestBody()::<lambda(long unsigned int)>::Local")) << lambda(1);
}

// What Clang says of it, and the mangled name.
TEST(TypeSpelling, MainIsMangledLikeANamespace) {
  EXPECT_EQ(detail::spelled_as_gcc("L", "Z4mainE1L"), "main()::L");
  EXPECT_EQ(detail::spelled_as_gcc("n::Box<L>", "N1n3BoxIZ4mainE1LEE"), "n::Box<main()::L>");
}

TEST(TypeSpelling, WhatIsNotUnderstoodStaysAsItIs) {
  EXPECT_EQ(detail::spelled_as_gcc("L", "no mangled name"), "L");
  EXPECT_EQ(detail::spelled_as_gcc("one>two", "1L"), "one>two");
}

}  // namespace
}  // namespace hummer
