// Makes what the services of docker-compose.yml share, once, and gives each service its own part of it: a volume that only
// that service mounts, with files of mode 0400 that belong to its user. Run as: node make-secrets.mjs <folder>. What is there
// already stays, so that the data of an earlier start still opens.
import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '/secrets'] = process.argv.slice(2)
process.umask(0o077)
mkdirSync(join(folder, 'all'), { recursive: true })

/** Kept in the volume `secrets`, which no other container mounts. */
function kept(name, make) {
  const file = join(folder, 'all', name)
  if (!existsSync(file) || readFileSync(file, 'utf8') === '') writeFileSync(file, make())
  return readFileSync(file, 'utf8')
}

const random = (name) => kept(name, () => randomBytes(24).toString('hex'))
const privateKey = (service) =>
  kept(`${service}-private-key.pem`, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
  )
const publicKey = (service) => createPublicKey(privateKey(service)).export({ type: 'spki', format: 'pem' })
const databaseUrl = (login, password) => `postgres://${login}:${password}@postgres:5432/gateway`

const ownerPassword = random('owner-password')
const ledgerPassword = random('ledger-password')
const consolePassword = random('console-password')
const redisPassword = random('redis-password')
const ownerUrl = databaseUrl('postgres', ownerPassword)
const redisUrl = `redis://:${redisPassword}@redis:6379`

// The users are those of the images; archive and seed run as root, because their volumes begin as root's.
const [services, postgres, redis, root] = [1000, 999, 999, 0]
give('gateway', services, { 'private-key.pem': privateKey('gateway'), 'redis-url': redisUrl })
give('worker', services, { 'private-key.pem': privateKey('worker'), 'redis-url': redisUrl })
give('ledger', services, {
  'database-url': databaseUrl('svc_ledger_login', ledgerPassword),
  'redis-url': redisUrl,
  'gateway-public-keys.pem': publicKey('gateway'),
  'worker-public-keys.pem': publicKey('worker'),
  'console-public-keys.pem': publicKey('console'),
  'webhook-key': random('webhook-key'),
})
give('console', services, {
  'database-url': databaseUrl('svc_console_login', consolePassword),
  'private-key.pem': privateKey('console'),
  'second-factor-key': random('second-factor-key'),
  'capture-key': random('capture-key'),
})
give('migrate', services, {
  'owner-url': ownerUrl,
  'ledger-password': ledgerPassword,
  'console-password': consolePassword,
})
give('postgres', postgres, { 'owner-password': ownerPassword })
give('redis', redis, { 'redis.conf': `requirepass ${redisPassword}\n`, password: redisPassword })
give('archive', root, { 'owner-url': ownerUrl })
give('seed', root, { 'owner-url': ownerUrl, 'private-key.pem': privateKey('console') })

/** Leaves exactly these files in the folder of a service. */
function give(service, user, files) {
  const place = join(folder, service)
  mkdirSync(place, { recursive: true })
  for (const name of readdirSync(place)) if (!(name in files)) rmSync(join(place, name), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    const file = join(place, name)
    if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
    rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o400, flag: 'wx' })
    own(file, user)
  }
  own(place, user)
  chmodSync(place, 0o700)
}

function own(path, user) {
  if (process.getuid?.() === 0) chownSync(path, user, user)
}
