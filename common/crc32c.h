/*
 * crc32c - CRC-32C (Castagnoli), the checksum of spool records (RFC 3720, appendix B.4).
 *
 * Guards against torn and rotten bytes, not against people; that is what seal is for. Any
 * thread.
 */
#ifndef COMMON_CRC32C_H
#define COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * crc32c returns the checksum of len bytes that follow bytes with checksum crc; begin
 * with 0. crc32c(crc32c(0, a), b) is the checksum of a and b in a row.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif
