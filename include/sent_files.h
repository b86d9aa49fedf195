/*
 * sent_files.h - HFiles of reduces that wait in the place where the load will be
 *
 * Reduces on many machines have no folder in common but there (HDFS): each sends its files to one
 * folder, and who unites moves them from it.  The folder is made before the first reduce and never
 * here: once it is gone, a reduce that is still awake finds no place to write to.  A file's name is
 * that of table, region and digest, so that a second attempt's is the same file.
 */
#ifndef SALTMILL_SENT_FILES_H
#define SALTMILL_SENT_FILES_H

#include "half_reports.h"
#include "storage.h"

/*
 * Send all files that the report tells of, which are below dir, to the folder uri.  Each appears
 * under its name only when it is whole and its checksum was compared.  RC_IO: another try may help.
 */
int sent_files_send(const struct reduce_report *r, const char *dir, const char *uri,
		    const struct storage_options *place, struct error *err);
/*
 * Move one from the folder uri, which is in `to`, to path.  RC_DATA: it is not there, or is not as
 * long as it was written.
 */
int sent_files_take(struct storage *to, const char *uri, size_t table, size_t region,
		    const struct manifest_file *f, const char *path, struct error *err);

/*
 * Undo that: the file below folder, at the path that f tells, goes back to where it waited.  RC_OK
 * too when it is not there, or the folder uri is gone.
 */
int sent_files_give_back(struct storage *in, const char *uri, size_t table, size_t region,
			 const struct manifest_file *f, const char *folder, struct error *err);
/* RC_CONFIG: uri is in another place than the load will be, so that nothing can be moved there. */
int sent_files_check_place(const char *uri, const char *output, struct error *err);

#endif
