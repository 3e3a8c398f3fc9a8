#!/bin/sh
# First process of the machine of scripts/trial-programs/gpio.ts: its files are the host's, read-only. Makes two GPIO chips, the second with the label of a Raspberry Pi 5's
# header, tries the gateway on them, and switches the machine off.
root=$(dirname "$(readlink -f "$0")")/../../..
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
for directory in /tmp /run /dev/shm; do mount -t tmpfs tmpfs $directory; done
mount -t configfs configfs /sys/kernel/config
ip link set lo up
export HOME=/tmp PATH=/usr/bin:/bin:/usr/sbin:/sbin
# chip NAME LABEL LINES
chip() {
  mkdir -p "/sys/kernel/config/gpio-sim/$1/bank0"
  echo "$2" >"/sys/kernel/config/gpio-sim/$1/bank0/label"
  echo "$3" >"/sys/kernel/config/gpio-sim/$1/bank0/num_lines"
  echo 1 >"/sys/kernel/config/gpio-sim/$1/live"
}
chip board raspberrypi-exp-gpio 8
chip header pinctrl-rp1 54
echo "Linux $(uname -r), $(ls /dev/gpiochip* | tr '\n' ' ')"
"$(ls -d "$root"/.bun/[0-9]*/bun | head -n 1)" "$root/scripts/trial-programs/gpio/guest.ts"
echo o >/proc/sysrq-trigger
sleep 60
