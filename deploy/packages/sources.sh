# Debian's source packages, for what is compiled into the packages: source this file.

# debian_sources FOLDER NAME=VERSION...: unpacks source packages into FOLDER/NAME. The list of their archives is one of its
# own, since the machine's may have none.
debian_sources() {
  local folder=$1 codename suite source apt
  shift
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial"
  for suite in "debian $codename" "debian $codename-updates" "debian-security $codename-security"; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/$suite main"
  done >"$folder/sources.list"
  apt=(apt-get -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o Dir::State::lists="$folder/lists" -o APT::Sandbox::User=root)
  "${apt[@]}" update >"$folder/log"
  for source in "$@"; do
    (cd "$folder" && "${apt[@]}" --download-only source "$source" && dpkg-source --no-check -x "${source%%=*}"_*.dsc "${source%%=*}") \
      >>"$folder/log"
  done
}
