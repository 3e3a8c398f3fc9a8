#!/bin/sh
# Lays out a machine on which systemd runs, with an /etc of its own, and runs the program that is given. For a mount namespace of its own
# (unshare --mount). `systemctl`, in the same folder as the first argument names, starts and stops the gateway as systemd would.
set -eu
mount -t tmpfs box /mnt
cp -a /etc /mnt/etc
mkdir -p /mnt/etc/lintel
mount --bind /mnt/etc /etc
mount -t tmpfs run /run
mkdir -p /run/systemd/system
cat >"$1/systemctl" <<'SYSTEMCTL'
#!/bin/sh
# As of a unit with Type=notify: it is started once it serves.
here=$(dirname "$0")
running() { [ -e "$here/pid" ] && kill -0 "$(cat "$here/pid")" 2>/dev/null; }
case "$*" in
"show lintel.service --property=LoadState --value") echo loaded ;;
"start lintel.service" | "restart lintel.service")
  ! running || [ "$1" = restart ] || exit 0
  ! running || kill "$(cat "$here/pid")"
  : >"$here/ready"
  "$here/lintel" run --config /etc/lintel/lintel.toml --json >"$here/ready" 2>"$here/log" &
  echo $! >"$here/pid"
  while [ ! -s "$here/ready" ]; do
    running || { echo "Job for lintel.service failed because the control process exited with error code." >&2; exit 1; }
    sleep 0.05
  done
  ;;
esac
SYSTEMCTL
chmod +x "$1/systemctl"
shift
exec "$@"
