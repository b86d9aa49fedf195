/*
 * shared_forms.h - parts of the manifest's form that other forms also contain (private to this
 * folder)
 */
#ifndef SALTMILL_PUBLISH_SHARED_FORMS_H
#define SALTMILL_PUBLISH_SHARED_FORMS_H

#include "form.h"

extern const struct form manifest_file_form, manifest_column_form, manifest_tuning_form,
	reject_reason_form;

#endif
