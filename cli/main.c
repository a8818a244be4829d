#include "cli/cmd.h"
#include "common/stdfd.h"

int
main(int argc, char **argv)
{
	stdfd_open();
	return cmd_main(argc, argv);
}
