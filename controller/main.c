#include "common/stdfd.h"
#include "controller/command.h"

int
main(int argc, char **argv)
{
	stdfd_open();
	return command_main(argc, argv);
}
