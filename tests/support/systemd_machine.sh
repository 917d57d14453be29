#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Stripewise developers
# SPDX-License-Identifier: BSD-3-Clause
#
# systemd_machine.sh SOURCE DIRECTORY
#
# Boots systemd over a copy of this host's root that is gone afterwards. In DIRECTORY: `install`, a
# script that runs before the boot, in SOURCE; `try`, the one that runs after it, and `said`, what
# it prints; with its end the machine ends. To be run in name spaces of its own (see the caller).
set -eu
source=$1 directory=$2
root=$directory/root
mkdir "$directory/layers" "$root"

mount --make-rprivate /
mount -t tmpfs none "$directory/layers"
for name in root source; do
    mkdir "$directory/layers/$name" "$directory/layers/$name.work"
done
layer() { # LOWER NAME WHERE
    mount -t overlay overlay \
        -o "lowerdir=$1,upperdir=$directory/layers/$2,workdir=$directory/layers/$2.work" "$3"
}
layer / root "$root"
rm -rf "$root"/etc/systemd/system/*
mkdir -p "$root/srv/source" "$root/srv/machine"
layer "$source" source "$root/srv/source"
mount --bind "$directory" "$root/srv/machine"
mount --rbind /dev "$root/dev"
for name in dev/shm run tmp; do
    mount -t tmpfs none "$root/$name"
done
chmod 1777 "$root/tmp"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup" || {
    mount -t tmpfs none "$root/sys/fs/cgroup"
    mount -t cgroup2 none "$root/sys/fs/cgroup"
}
mount -t debugfs none "$root/sys/kernel/debug"

path=/usr/sbin:/usr/bin:/sbin:/bin
PATH=$path chroot "$root" /bin/sh -euxc "cd /srv/source; . /srv/machine/install"

cat >"$root/etc/systemd/system/try.target" <<UNIT
[Unit]
Description=Trying units
Requires=systemd-journald.service try.service
UNIT
cat >"$root/etc/systemd/system/try.service" <<UNIT
[Unit]
DefaultDependencies=no
After=sysinit.target systemd-journald.service
[Service]
Type=oneshot
ExecStart=/bin/sh /srv/machine/try
StandardOutput=file:/srv/machine/said
StandardError=inherit
ExecStopPost=/bin/systemctl --no-block exit
UNIT
mount --make-rshared "$root" # as systemd finds or makes it where it is not in a container
exec chroot "$root" env -i container=other PATH=$path \
    /usr/lib/systemd/systemd --system --unit=try.target --log-target=console
