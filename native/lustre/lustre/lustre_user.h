/* SPDX-FileCopyrightText: 2026 The Stripewise developers
 * SPDX-License-Identifier: BSD-3-Clause */
/* The part of Lustre's user interface that ROMIO's Lustre driver uses, newly written from the
 * documented numbers and layouts (llapi_layout(7), llapi_ladvise(3), lfs-setstripe(1)): sufficient
 * to compile the driver on a machine without Lustre. docs/design/machines.md describes what it
 * requests with them. */
#pragma once
#include <fcntl.h>
#include <linux/types.h>
#include <sys/ioctl.h>

#define LL_SUPER_MAGIC 0x0BD00BD0              /* f_type of statfs(2) */
#define LOV_USER_MAGIC 0x0BD10BD0              /* version 1 of the layout below */
#define O_LOV_DELAY_CREATE (O_NOCTTY | FASYNC) /* open(2): the layout is set later */

#define LL_IOC_LOV_SETSTRIPE _IOW('f', 154, long)
#define LL_IOC_LOV_GETSTRIPE _IOW('f', 155, long)
#define LL_IOC_GROUP_LOCK _IOW('f', 158, long)
#define LL_IOC_GROUP_UNLOCK _IOW('f', 159, long)
#define LL_IOC_LADVISE _IOR('f', 250, struct llapi_lu_ladvise)

struct lov_user_ost_data { /* one object: 24 bytes */
    __u64 l_object[2];
    __u32 l_ost_gen;
    __u32 l_ost_idx; /* its target */
} __attribute__((packed));

struct lov_user_md { /* 32 bytes and the objects */
    __u32 lmm_magic;
    __u32 lmm_pattern; /* 0 or 1: RAID 0 */
    __u64 lmm_object[2];
    __u32 lmm_stripe_size; /* bytes */
    __u16 lmm_stripe_count;
    __u16 lmm_stripe_offset; /* on set: the first target, 0xffff for any; on get: a version */
    struct lov_user_ost_data lmm_objects[0];
} __attribute__((packed));

/* Advice on locks, which the driver requests ahead of time. */
struct llapi_lu_ladvise { /* 32 bytes */
    __u16 lla_advice;     /* LU_LADVISE_ */
    __u16 lla_value1;     /* lock-ahead: MODE_ */
    __u32 lla_value2;     /* lock-ahead: flags of this extent */
    __u64 lla_start;
    __u64 lla_end;    /* last byte, inclusive */
    __u32 lla_value3; /* lock-ahead, out: LLA_RESULT_ or a negative errno */
    __u32 lla_value4;
};

struct llapi_ladvise_hdr { /* 32 bytes and the extents */
    __u32 lah_magic;
    __u32 lah_count;
    __u64 lah_flags;
    __u32 lah_value1;
    __u32 lah_value2;
    __u64 lah_value3;
    struct llapi_lu_ladvise lah_advise[0];
};

#define LADVISE_MAGIC 0x1ADF1CE0
#define LAH_COUNT_MAX 1024
#define lla_lockahead_mode lla_value1
#define lla_peradvice_flags lla_value2
#define lla_lockahead_result lla_value3

enum lu_ladvise_type { LU_LADVISE_LOCKNOEXPAND = 3, LU_LADVISE_LOCKAHEAD = 4 };
enum ladvise_flag { LF_ASYNC = 1, LF_UNSET = 2, LF_NONBLOCK = 3, LF_MASK = 3 };
enum lock_mode_user { MODE_READ_USER = 1, MODE_WRITE_USER = 2 };
enum lockahead_results { LLA_RESULT_SENT, LLA_RESULT_DIFFERENT, LLA_RESULT_SAME };
