#!/bin/sh
# Lays out /sys/class/gpio as a Raspberry Pi's kernel 6.6 does, and runs the program that is given. For mount
# and UTS namespaces of its own (unshare --mount --uts). The values of the buttons are the host and
# domain names of the namespace: files that hold 0 or 1 and raise EPOLLPRI when they change, as real ones do.
set -eu
mount -t tmpfs fake-gpio /sys/class
chip() {
  mkdir -p "/sys/class/gpio/gpiochip$1"
  echo "$1" > "/sys/class/gpio/gpiochip$1/base"
  echo "$2" > "/sys/class/gpio/gpiochip$1/label"
  echo "$3" > "/sys/class/gpio/gpiochip$1/ngpio"
}
chip 504 raspberrypi-exp-gpio 8
chip 512 pinctrl-bcm2711 58
for line in 529 534 539; do
  directory=/sys/class/gpio/gpio$line
  mkdir -p "$directory"
  echo in > "$directory/direction"
  echo none > "$directory/edge"
  echo 0 > "$directory/active_low"
  echo 0 > "$directory/value"
done
touch /sys/class/gpio/export /sys/class/gpio/unexport
echo 0 > /proc/sys/kernel/hostname
mount --bind /proc/sys/kernel/hostname /sys/class/gpio/gpio539/value
echo 0 > /proc/sys/kernel/domainname
mount --bind /proc/sys/kernel/domainname /sys/class/gpio/gpio534/value
exec "$@"
