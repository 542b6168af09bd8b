# Fresh machines for the tests of the packages: source this file. A root of Debian is made once by debootstrap, kept, and
# copied for each test. Needs root, debootstrap, Debian's mirror, and systemd-nspawn for a machine that boots.
cache=${QUAKE_TEST_ROOTS:-/var/cache/quake-tests/roots}
machine= leader=
cgroups=()

# fresh_root RELEASE: makes $root, and the folder $scratch around it, which is removed when the test ends.
fresh_root() {
  local base=$cache/$1
  if [[ ! -e $base/.complete ]]; then
    rm -rf --one-file-system "$base"
    mkdir -p "$cache"
    debootstrap --variant=minbase --include=ca-certificates "$1" "$base" >/dev/null
    touch "$base/.complete"
  fi
  scratch=$(mktemp -d "/var/tmp/quake-$1.XXXXXX")
  root=$scratch/root
  trap remove_root EXIT
  cp -a "$base" "$root"
  rm "$root/.complete"
  chmod 755 "$root"
  cp /etc/resolv.conf "$root/etc/"
  # Nothing starts while packages are installed into a root that does not run.
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  mount -t proc proc "$root/proc"
}

remove_root() {
  [[ -z $machine ]] || kill -KILL $leader "$machine" 2>/dev/null || true
  wait 2>/dev/null || true
  kill -KILL $(processes) 2>/dev/null || true
  ! mountpoint --quiet "$root/proc" || umount "$root/proc"
  # Processes of the machine may still be ending.
  for cgroup in "${cgroups[@]}"; do eventually 10 find "$cgroup" -depth -type d -exec rmdir {} + || true; done
  eventually 10 rm -rf --one-file-system "$scratch"
}

# processes: those that run in the root.
processes() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/root") != "$root" ]] || echo "${process#/proc/}"
  done
}

clean_environment=(env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)

# inside COMMAND...: runs a command in the root, which has not booted.
inside() { chroot "$root" "${clean_environment[@]}" "$@"; }

# boot: the root becomes a machine with its own init, processes and network, without a way out.
boot() {
  umount "$root/proc"
  rm -f "$root/usr/sbin/policy-rc.d"
  # A cgroup of its own: the machine's init takes the one that it is started in.
  for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
    [[ -e $hierarchy/cgroup.procs ]] || continue
    mkdir -p "$hierarchy/quake-test-$$"
    cgroups+=("$hierarchy/quake-test-$$")
  done
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 unshare --mount bash -c '
    for cgroup in "${@:2}"; do echo $$ >"$cgroup/cgroup.procs"; done
    mount --make-rslave / && mount -t tmpfs tmpfs /run
    exec systemd-nspawn --quiet --register=no --keep-unit --private-network --console=pipe \
      --machine=quake-test --directory="$1" --boot' boot "$root" "${cgroups[@]}" </dev/null >/dev/null 2>&1 &
  machine=$!
  eventually 60 booted || { there systemctl --no-pager --failed >&2; return 1; }
}
booted() {
  leader=$(pgrep -P "$machine" | head -n 1) && [[ $(there systemctl is-system-running) == running ]]
}

# install inside|there PACKAGES [RECOMMENDED]: with what the packages recommend, unless RECOMMENDED is false.
install() { quietly "$1" apt-get -q --yes --option APT::Install-Recommends="${3:-true}" install $2; }

# there COMMAND...: runs a command in the machine that has booted.
there() { nsenter --target "$leader" --all -- "${clean_environment[@]}" "$@"; }

# eventually SECONDS COMMAND...: repeats a command until it succeeds.
eventually() {
  local end=$((SECONDS + $1))
  until "${@:2}" >/dev/null 2>&1; do
    if ((SECONDS >= end)); then
      echo "not within $1 s: ${*:2}" >&2
      return 1
    fi
    sleep 0.2
  done
}

# A user's quake-watch publishes the events of its server at a broker, with the system's libmosquitto.
# publishes PORT
publishes() {
  printf '[consumer home]\nmqtt = mqtt://127.0.0.1:%d\nfrom = start\nretain = always\n' "$1" >~/consumers.conf
  /usr/sbin/mosquitto -p "$1" >~/mosquitto.log 2>&1 & local broker=$!
  quake-watch run --config ~/consumers.conf --quiet & local consumers=$!
  published() { { timeout 3 curl --silent --no-buffer "mqtt://127.0.0.1:$1/quake/%23" || true; } | grep Simulated; }
  eventually 60 published "$1" || { cat ~/mosquitto.log; return 1; }
  kill "$consumers" && wait "$consumers"
  kill "$broker" && wait "$broker"
  rm ~/consumers.conf ~/mosquitto.log
}

# quietly COMMAND...: shows what a command said only if it fails.
quietly() {
  local said
  said=$("$@" 2>&1) || { echo "failed: $*"; tail -n 20 <<<"$said"; return 1; } >&2
}
