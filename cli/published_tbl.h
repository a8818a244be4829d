/*
 * One row per workload of the published reviews of StorageReview: its id, as in the suites
 * storagereview-2018@1 and -2021@1, and how many I/Os it had in flight in the reviews of 2018 and 2019, and
 * in that of 2021 (0: not in these). 4K and 64K as printed but for the writes of 2018 (64 and 8 are
 * printed), all others by Little's law on the published peaks of the drives that agree.
 */
PUBLISHED("4k-random-read", 128, 128)
PUBLISHED("4k-random-write", 128, 128)
PUBLISHED("4k-random-read-high-load", 0, 512)
PUBLISHED("4k-random-write-high-load", 0, 512)
PUBLISHED("64k-sequential-read", 16, 32)
PUBLISHED("64k-sequential-write", 16, 16)
PUBLISHED("64k-sequential-read-high-load", 0, 64)
PUBLISHED("64k-sequential-write-high-load", 0, 64)
PUBLISHED("sql", 32, 32)
PUBLISHED("sql-90-10", 32, 32)
PUBLISHED("sql-80-20", 32, 32)
PUBLISHED("oracle", 36, 36)
PUBLISHED("oracle-90-10", 22, 22)
PUBLISHED("oracle-80-20", 22, 22)
PUBLISHED("vdi-fc-boot", 35, 35)
PUBLISHED("vdi-fc-initial-login", 30, 30)
PUBLISHED("vdi-fc-monday-login", 16, 16)
PUBLISHED("vdi-lc-boot", 16, 16)
PUBLISHED("vdi-lc-initial-login", 8, 8)
PUBLISHED("vdi-lc-monday-login", 16, 16)
