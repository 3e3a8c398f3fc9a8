#!/bin/sh
# Commands of the emulated machine, as root: README's steps, from the lines of README, and checks of their results. `step:`
# and `seen:` are for people, `sensor:` asks the host to move the sensor at the other end of the serial adapter.
set -eu
exec </dev/null
# Ends the line that was sent to the console before.
echo
cd "$(dirname "$0")/../.."
config=/etc/lintel/lintel.toml
api=https://127.0.0.1:8080/v0.9

step() { echo "step: $*"; }
seen() { echo "seen: $*"; }

# lintel COMMAND …, as README has an installer do it.
lintel() { runuser -u lintel -- lintel "$@" --config "$config"; }

# until_seen TRIES COMMAND …: repeats it, a second apart, until it succeeds.
until_seen() {
  tries=$1
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 1
  done
}

uptime_ms() { sed 's/\([0-9]*\)\.\([0-9]*\) .*/\1\20/' /proc/uptime; }

seen "Linux $(uname -r), $(uname -m), pages of $(getconf PAGESIZE) bytes, up for $(uptime_ms) ms"
[ "$(getconf PAGESIZE)" = 16384 ]
# The machine's clock is the host's.
install -D /dev/null /run/systemd/timesync/synchronized
# Bun looks there when it is told to; curl does by itself.
export NO_COLOR=1 NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt

step "a checkout for the tests, which fetches Bun and the dependencies"
scripts/lintel --version

step "a serial adapter on USB"
port=$(echo /dev/serial/by-id/*)
seen "$port is $(readlink -f "$port")"
ADAPTER=$port .bun/*/bun test ./drivers/native/serialport/test/adapter.ts

step "the package, as README installs it"
dpkg --install lintel_*_arm64.deb
command lintel --version
printf '\n[zigbee]\nport = "%s"\nadapter = "zstack"\n' "$port" >>"$config"
started=$(uptime_ms)
systemctl enable --now lintel
seen "ready after $(($(uptime_ms) - started)) ms"

step "lintel token, lintel doctor"
token=$(lintel token create trial --json | sed 's/.*"token":"\([^"]*\)".*/\1/')
lintel doctor

step "a sensor joins"
listening() { lintel status | grep -q listening; }
until_seen 60 listening
# Its countdown would stand before the next line of the console.
lintel pair --seconds 120 --json >/tmp/pair 2>/tmp/pair.errors &
until_seen 60 grep -q '"open"' /tmp/pair
echo "sensor: join"
until_seen 60 grep '"joined"' /tmp/pair

step "its events are served"
ask() { curl -sS --cacert /var/lib/lintel/tls-certificate.pem -H "Authorization: bearer $token" -H "Accept: application/json" "$api$1"; }
item=$(ask /inventory/wirelesssensors | sed 's/.*"itemname":"\([^"]*\)".*/\1/')
echo "sensor: alarm"
served() { ask "/items/wirelesssensors/$item/events" | grep '"event":50'; }
until_seen 60 served

step "it starts again after kill -9, and serves what it had"
before=$(systemctl show --property=MainPID lintel)
systemctl kill --signal=KILL lintel
again() { [ "$(systemctl show --property=MainPID lintel)" != "$before" ] && systemctl is-active --quiet lintel; }
until_seen 120 again
served
seen "memory: $(systemctl show --property=MemoryCurrent lintel), $(grep VmRSS "/proc/$(systemctl show --property=MainPID --value lintel)/status")"
systemctl stop lintel

step "tests of serial ports, epoll, ptys and C's layouts"
.bun/*/bun test drivers/native drivers/wire test/drivers/wire test/abi test/cli/service-notifier.test.ts
echo passed
