import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { z } from 'zod'

// The Ed25519 keys with which services sign their requests to the ledger, as PEM: `openssl genpkey -algorithm ed25519`
// makes a private key, and `openssl pkey -pubout` its public one. The ledger holds public keys only.

export interface ServiceKeys {
  /** PKCS #8, PEM. */
  privateKey: string
  /** SPKI, PEM. */
  publicKey: string
}

export function newServiceKeys(): ServiceKeys {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}

/** @throws Error unless it is a private Ed25519 key as PEM; the key is not quoted */
export function readPrivateKey(pem: string): KeyObject {
  return ed25519(() => createPrivateKey(pem), NO_PRIVATE_KEY)
}

/**
 * One public key, or two while a service changes its key, one after the other.
 * @throws Error for anything else
 */
export function readPublicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? []
  const rest = blocks.reduce((text, block) => text.replace(block, ''), pem)
  if (blocks.length < 1 || blocks.length > 2 || rest.trim() !== '') throw new Error(NO_PUBLIC_KEYS)
  return blocks.map((block) => ed25519(() => createPublicKey(block), NO_PUBLIC_KEYS))
}

const NO_PRIVATE_KEY = 'expected a private Ed25519 key as PEM; `openssl genpkey -algorithm ed25519` makes one'
const NO_PUBLIC_KEYS =
  'expected one public Ed25519 key as PEM, or two while it is replaced; `openssl pkey -pubout` derives it from the private key'

/** A configuration field: the private key of a service, as PEM. */
export function servicePrivateKey() {
  return z.string().refine(succeeds(readPrivateKey), NO_PRIVATE_KEY)
}

/** A configuration field: the public keys of a service, as PEM. */
export function servicePublicKeys() {
  return z.string().refine(succeeds(readPublicKeys), NO_PUBLIC_KEYS)
}

function succeeds(read: (pem: string) => unknown): (pem: string) => boolean {
  return (pem) => {
    try {
      read(pem)
      return true
    } catch {
      return false
    }
  }
}

function ed25519(read: () => KeyObject, message: string): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch {
    throw new Error(message)
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(message)
  return key
}
