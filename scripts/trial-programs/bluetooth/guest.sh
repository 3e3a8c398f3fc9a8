#!/bin/sh
# Commands of the machine of scripts/trial-programs/bluetooth.ts, as root: installs the package, makes an adapter of the kernel possible, and has guest.ts try it.
set -eu
exec </dev/null
# Ends the line that was sent to the console before.
echo
cd "$(dirname "$0")/../../.."
export NO_COLOR=1 HOME=/root
echo "seen: Linux $(uname -r), $(uname -m), $(bluetoothctl --version)"
# The machine's clock is the host's.
install -D /dev/null /run/systemd/timesync/synchronized
dpkg --install lintel_*.deb >/dev/null
modprobe hci_vhci || modprobe hci_uart
# No packages of npm are here: the simulator in one file.
mv air.js testbed/air.ts
# For the log, which the host keeps.
journalctl --follow --unit=lintel --unit=bluetooth --output=cat | sed 's/^/journal: /' &
exec /usr/lib/lintel/bun scripts/trial-programs/bluetooth/guest.ts
