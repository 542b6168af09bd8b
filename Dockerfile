# The tools in a small image. The database is another container's: see docker-compose.yml.
# Exact tags. A digest would pin the bytes, too: put "@sha256:..." behind them where you have looked it up.
ARG SWIFT_VERSION=6.3.1
ARG DEBIAN_VERSION=12.11

FROM swift:${SWIFT_VERSION}-bookworm AS build
# The development packages of the C libraries; deploy/setup.sh has the same list for a machine.
# Debian keeps no old versions that could be pinned; its release is the pin.
# hadolint ignore=DL3008
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
      libcurl4-openssl-dev libexpat1-dev libinih-dev libmicrohttpd-dev libpq-dev libsimdjson-dev libssl-dev \
      libwslay-dev libzstd-dev pkg-config zlib1g-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY migrations migrations
COPY Sources Sources
# The manifest names the test targets and the benchmark, so their folders have to be there.
COPY Tests Tests
COPY Benchmarks Benchmarks
RUN swift build -c release \
 && bin=$(swift build -c release --show-bin-path) \
 && install -D --strip -t /out \
      "$bin/quake-ingest" "$bin/quake-watch" "$bin/quake-query" "$bin/quake-admin" \
      "$bin/quake-serve"

ARG DEBIAN_VERSION
FROM debian:${DEBIAN_VERSION}-slim
# hadolint ignore=DL3008
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
      ca-certificates libcurl4 libexpat1 libinih1 libmicrohttpd12 libpq5 libsimdjson14 libssl3 libstdc++6 \
      libwslay1 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 quake \
 && useradd --system --uid 10001 --gid quake --home-dir /nonexistent --shell /usr/sbin/nologin quake \
 # For a volume with state files: it can be written to whatever user id the container is run with.
 && install -d -m 1777 /state
COPY --from=build /out/ /usr/local/bin/
USER 10001:10001
WORKDIR /state
CMD ["quake-ingest", "--help"]
