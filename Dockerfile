# The tools in a small image, from the tarball that "make tarball" makes: nothing is compiled here. "make image" does
# both. The database is another container's: see docker-compose.yml.
# An exact tag. A digest would pin the bytes, too: put "@sha256:..." behind it where you have looked it up.
ARG DEBIAN_VERSION=13.8

FROM debian:${DEBIAN_VERSION}-slim AS files
ADD .build/packages/quake-*-linux-x86_64.tar.xz /
RUN mv /quake-*-linux-x86_64 /quake

FROM debian:${DEBIAN_VERSION}-slim
# The libraries that the tarball needs. Debian keeps no old versions that could be pinned; its release is the pin.
# hadolint ignore=DL3008
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
      ca-certificates libcurl4t64 libexpat1 libmosquitto1 libpq5 libssl3t64 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --system --gid 10001 quake \
 && useradd --system --uid 10001 --gid quake --home-dir /nonexistent --shell /usr/sbin/nologin quake \
 # For a volume with state files: it can be written to whatever user id the container is run with.
 && install -d -m 1777 /state
COPY --from=files /quake/bin/ /usr/local/bin/
COPY --from=files /quake/lib/ /usr/local/lib/
# The licences, and the list of what is inside.
COPY --from=files /quake/share/doc/ /usr/share/doc/
USER 10001:10001
WORKDIR /state
CMD ["quake-ingest", "--help"]
