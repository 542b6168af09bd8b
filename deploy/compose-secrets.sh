#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml uses: a random password for the superuser and for each role
# that a service connects as, each alone in a file and as a line of a libpq password file. It keeps existing
# files, so that it can be repeated after an upgrade.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=deploy/secrets
umask 077
mkdir -p "$folder"

# libpq ignores a password file that others may read, so the files must belong to the user id that the
# containers run with: the image's own, or, as only root can give files away, the caller's.
own() {
  if [[ $(id -u) -eq 0 ]]; then chown 10001:10001 "$@"; fi
}
if [[ $(id -u) -ne 0 ]] && ! grep -qs '^QUAKE_UID=' .env; then
  printf 'QUAKE_UID=%s\nQUAKE_GID=%s\n' "$(id -u)" "$(id -g)" >> .env
fi

made=()
# NAME-OF-FILE ROLE
secret() {
  local password=$folder/$1_password passfile=$folder/$1_passfile
  [[ $1 == superuser ]] && password=$folder/postgres_password
  if [[ ! -e $password ]]; then
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "$password"
    echo >> "$password"
    [[ $1 == superuser ]] || own "$password"
    made+=("$password")
  fi
  if [[ ! -e $passfile ]]; then
    printf 'postgres:5432:quake:%s:%s\n' "$2" "$(cat "$password")" > "$passfile"
    own "$passfile"
    made+=("$passfile")
  fi
}
secret superuser quake
secret writer quake_writer
secret watcher quake_watcher
secret reader quake_reader
# The server's image reads this one as root or as its own user; the folder's mode excludes other users of the
# host.
chmod 0644 "$folder/postgres_password"

if [[ ${#made[@]} -eq 0 ]]; then
  echo "the secrets are there: $folder" >&2
else
  echo "made ${made[*]}" >&2
fi
