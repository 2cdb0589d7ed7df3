/** The same server and login, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${encodeURIComponent(database)}`
  return changed.href
}

/** The same server and database, another login. */
export function withLogin(url: string, user: string, password: string): string {
  const changed = new URL(url)
  changed.username = encodeURIComponent(user)
  changed.password = encodeURIComponent(password)
  return changed.href
}

/** The same login and database at another address. */
export function withAddress(url: string, { host, port }: { host: string; port: number }): string {
  const changed = new URL(url)
  changed.hostname = host
  changed.port = String(port)
  return changed.href
}

/** The database of a URL; the name of the user if it has none, as in Postgres. */
export function databaseOf(url: string): string {
  const { pathname, username } = new URL(url)
  return decodeURIComponent(pathname.slice(1) || username)
}

/** A URL for messages: user, server and database, never the password. */
export function describeUrl(url: string): string {
  const { username, host } = new URL(url)
  return `${decodeURIComponent(username)}@${host}/${databaseOf(url)}`
}
