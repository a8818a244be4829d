#include "cli/vdbench.h"
#include "tests/fuzz/fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_convert(vdbench_convert, data, size);
}
