/* reader_extras.h - keys and dictionaries for files that need more than their own bytes (README.md 10) */
#ifndef SALTMILL_READER_EXTRAS_H
#define SALTMILL_READER_EXTRAS_H

#include "hfile.h"

#define HEXTRAS_KEY_BYTES 16 /* AES-128 is the only cipher of HBase */

/* Return the extras of this process (hfile_extras_use), or NULL. */
const struct hfile_extras *hfile_extras_used(void);
/*
 * Decrypt the data key of a file. `wrapped` is the trailer's key. Returns RC_CONFIG if `x` (NULL is
 * fine) has no master key that fits. Returns RC_DATA if `wrapped` is damaged, or of another cipher.
 */
int hfile_extras_unwrap(const struct hfile_extras *x, struct bytes wrapped,
			uint8_t key[HEXTRAS_KEY_BYTES], struct error *err);
/*
 * Decrypt the stored payload of a block in place: u8 length of the IV, IV, bytes. `*payload` becomes
 * the decrypted bytes. Returns RC_DATA if the IV has another length than HBase's.
 */
int hfile_extras_decrypt(const uint8_t key[HEXTRAS_KEY_BYTES], uint8_t *ptr, size_t len,
			 struct bytes *payload, struct error *err);
/* Return libzstd's ZSTD_DDict of a dictionary, or NULL. `x` may be NULL. */
const void *hfile_extras_dictionary(const struct hfile_extras *x, uint32_t id);

#endif
