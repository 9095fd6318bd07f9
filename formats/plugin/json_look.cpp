// libhummer_json.so: how commands look at JSON lines.
#include "platform/json_look.hpp"

#include <hummer/formats/infer.hpp>
#include <hummer/formats/look.hpp>

extern "C" {
extern const hummer::JsonLookPlugin hummer_json_look;
const hummer::JsonLookPlugin hummer_json_look = {
    .abi = HUMMER_ABI,
    .infer = &hummer::formats::infer_json,
    .why_no_object = &hummer::formats::why_no_json_object,
};
}
