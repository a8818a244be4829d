#include "agent/command.h"
#include "common/stdfd.h"

int
main(int argc, char **argv)
{
	stdfd_open();
	return command_main(argc, argv);
}
