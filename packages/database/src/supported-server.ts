import type { Client } from 'pg'

/** The version that the tests run on. prisma/functions uses features new in it, such as `min(bytea)`. */
const SUPPORTED_MAJOR = 18

/** Locales of libc that sort text by its bytes, on every machine and permanently. */
const BYTE_ORDER = /^(C|POSIX|C\.UTF-?8)$/i

/**
 * Refuses a server or a database that is not fit to keep money in, before changing anything in it.
 * @throws Error with one sentence that states the resolution
 */
export async function refuseUnsupported(client: Client, supportedMajor: number = SUPPORTED_MAJOR): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number; provider: string; locale: string | null }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major,
            datlocprovider AS provider, CASE datlocprovider WHEN 'c' THEN datcollate ELSE datlocale END AS locale
       FROM pg_database WHERE datname = current_database()`,
  )
  const { version, major, provider, locale } = rows[0]!
  if (major !== supportedMajor) {
    throw new Error(
      `This is Postgres ${version}, and the service works on Postgres ${supportedMajor} alone: ` +
        `bring the server to version ${supportedMajor}, then migrate again (docs/operating.md, "Postgres").`,
    )
  }
  if (provider === 'b' || (provider === 'c' && BYTE_ORDER.test(locale ?? ''))) return
  throw new Error(
    `This database orders text by the rules of ${locale}, which change with the operating system and then break indexes of money: ` +
      `make it again with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C', then migrate again (docs/operating.md, "Postgres").`,
  )
}
