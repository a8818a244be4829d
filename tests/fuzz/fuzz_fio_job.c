#include "cli/fio_job.h"
#include "tests/fuzz/fuzz_convert.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_convert(fio_job_convert, data, size);
}
