#!/bin/sh
# Runs a PostgreSQL server in a new folder until the input ends, so it goes with whoever has started it.
#
# The first line of the output is the address of the server, which listens on a Unix socket only. Then each line of the
# input is `stop`, with the mode of pg_ctl, or `start`, and each answer is the status of that. Without PostgreSQL's
# programs the status of the script is 69.
trap '' HUP INT TERM PIPE
initdb=$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2> /dev/null | sort -V | tail -n 1)
[ -n "$initdb" ] || exit 69
programs=$(dirname "$(readlink -f "$initdb")")
[ "$1" = --check ] && exit

# The path of a Unix socket has little room, so TMPDIR does not count.
folder=$(mktemp -d /tmp/shop.XXXXXX) || exit
rights=
if [ "$(id -u)" = 0 ]; then
  # PostgreSQL does not run as root.
  rights="setpriv --reuid=postgres --regid=postgres --clear-groups"
  chown postgres "$folder"
fi
chmod 755 "$folder"
cd "$folder" || exit
password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
(umask 077 && printf '%s' "$password" > password)
[ -z "$rights" ] || chown postgres password

start() {
  $rights "$programs/pg_ctl" -D data -s -w -l log -o "-k '$folder' -c listen_addresses= -c fsync=off" start \
    < /dev/null > /dev/null 2>&1
}
$rights "$programs/initdb" -D data -U shop --pwfile=password --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync \
  < /dev/null > setup.log 2>&1 && start || cat setup.log >&2
echo "postgresql://shop:$password@/postgres?host=$folder"
while read -r command mode; do
  case $command in
  stop) $rights "$programs/pg_ctl" -D data -s -w -m "$mode" stop < /dev/null > /dev/null 2>&1 ;;
  start) start ;;
  esac
  echo $?
done
$rights "$programs/pg_ctl" -D data -s -w -m immediate stop > /dev/null 2>&1
cd / && rm -rf "$folder"
