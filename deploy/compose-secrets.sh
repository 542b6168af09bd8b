#!/usr/bin/env bash
# Makes the secrets that docker-compose.yml uses: a random password, alone in a file for PostgreSQL's
# image and as a line of a libpq password file for the tools. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=deploy/secrets
if [[ -e $folder/postgres_password ]]; then
  echo "the secrets are there: $folder" >&2
  exit 0
fi
umask 077
mkdir -p "$folder"
password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')

# libpq ignores a password file that others may read, so it must belong to the user id that the
# containers run with: the image's own, or, as only root can give files away, the caller's.
printf 'postgres:5432:quake:quake:%s\n' "$password" > "$folder/passfile"
if [[ $(id -u) -eq 0 ]]; then
  chown 10001:10001 "$folder/passfile"
else
  printf 'QUAKE_UID=%s\nQUAKE_GID=%s\n' "$(id -u)" "$(id -g)" >> .env
fi
# The image may read this one as root or as its own user; the folder keeps others on the host out.
printf '%s\n' "$password" > "$folder/postgres_password"
chmod 0644 "$folder/postgres_password"
echo "made $folder/postgres_password and $folder/passfile" >&2
