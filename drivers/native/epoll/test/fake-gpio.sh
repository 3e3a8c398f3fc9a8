#!/bin/sh
# Lays out /sys/class/gpio as the kernel does, and runs the program that is given in front of it. Run this
# in mount and UTS namespaces of its own (unshare --mount --uts): nothing of it is seen outside.
#
# gpio27/value is the host name of the namespace. That is a file which, like a real GPIO's, holds 0 or 1, can
# be read and written at offset 0, and raises EPOLLPRI when it changes.
set -eu
mount -t tmpfs fake-gpio /sys/class
for pin in 17 27; do
  directory=/sys/class/gpio/gpio$pin
  mkdir -p "$directory"
  echo out > "$directory/direction"
  echo none > "$directory/edge"
  echo 0 > "$directory/active_low"
  echo 0 > "$directory/value"
done
touch /sys/class/gpio/export /sys/class/gpio/unexport
echo 0 > /proc/sys/kernel/hostname
mount --bind /proc/sys/kernel/hostname /sys/class/gpio/gpio27/value
exec "$@"
