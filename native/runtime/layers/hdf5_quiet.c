/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* HDF5's error reporting is the program's: found and left as it was. */
#include "layers/hdf5.h"

#define DEFAULT_STACK 0

void sw_h5_quiet_begin(const struct sw_h5 *h5, struct sw_h5_quiet *quiet)
{
    unsigned version_2 = 1;
    sw_inside_begin();
    *quiet = (struct sw_h5_quiet){0};
    if (h5->H5Eauto_is_v2 != NULL && h5->H5Eset_auto1 != NULL && h5->H5Eget_auto1 != NULL)
        (void)h5->H5Eauto_is_v2(DEFAULT_STACK, &version_2);
    quiet->version_1 = version_2 == 0;
    if (quiet->version_1) {
        (void)h5->H5Eget_auto1(&quiet->function, &quiet->data);
        (void)h5->H5Eset_auto1(NULL, NULL);
    } else {
        (void)h5->H5Eget_auto2(DEFAULT_STACK, &quiet->function, &quiet->data);
        (void)h5->H5Eset_auto2(DEFAULT_STACK, NULL, NULL);
    }
}

void sw_h5_quiet_end(const struct sw_h5 *h5, const struct sw_h5_quiet *quiet)
{
    if (quiet->version_1)
        (void)h5->H5Eset_auto1(quiet->function, quiet->data);
    else
        (void)h5->H5Eset_auto2(DEFAULT_STACK, quiet->function, quiet->data);
    sw_inside_end();
}

sw_hid sw_h5_errors_save(const struct sw_h5 *h5, bool failed)
{
    if (!failed)
        return -1;
    sw_inside_begin();
    sw_hid saved = h5->H5Eget_current_stack();
    sw_inside_end();
    return saved;
}

void sw_h5_errors_restore(const struct sw_h5 *h5, sw_hid saved)
{
    if (saved < 0)
        return;
    sw_inside_begin();
    (void)h5->H5Eset_current_stack(saved);
    sw_inside_end();
}
