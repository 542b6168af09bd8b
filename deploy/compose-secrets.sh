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
# containers run with: that of .env, or else the image's own, or, as only root can give files away, the caller's.
if [[ $(id -u) -ne 0 ]] && ! grep -qs '^QUAKE_UID=' .env; then
  # The last line may have no end.
  if [[ -s .env && -n $(tail -c 1 .env) ]]; then echo >> .env; fi
  printf 'QUAKE_UID=%s\nQUAKE_GID=%s\n' "$(id -u)" "$(id -g)" >> .env
fi
# VARIABLE
given() {
  local value
  value=$(sed -n "s/^$1=[\"']\{0,1\}\([0-9]*\)[\"']\{0,1\}\r\{0,1\}$/\1/p" .env 2>/dev/null | tail -n 1)
  echo "${value:-10001}"
}
owner=$(given QUAKE_UID):$(given QUAKE_GID)
own() {
  if [[ $(id -u) -eq 0 ]]; then chown "$owner" "$@"; fi
}

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
